// dict.h: Dict, an owning map that keeps the order in which keys were added; the type of `Dict(str,
// Tensor)` arguments and results. Meant for a few entries, because a search compares all keys.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include "opgen/core/error.h"

namespace opgen {

template <class K, class V>
class Dict {
 public:
  using key_type = K;
  using mapped_type = V;

  class Entry {
   public:
    Entry(K key, V value) : key_(std::move(key)), value_(std::move(value)) {}
    [[nodiscard]] const K& key() const noexcept { return key_; }
    [[nodiscard]] const V& value() const noexcept { return value_; }
    void setValue(V value) { value_ = std::move(value); }
    [[nodiscard]] bool operator==(const Entry&) const = default;

   private:
    K key_;
    V value_;
  };
  using iterator = typename std::vector<Entry>::iterator;
  using const_iterator = typename std::vector<Entry>::const_iterator;

  Dict() = default;
  // If a key occurs twice, the last value is kept.
  Dict(std::initializer_list<std::pair<K, V>> entries) {
    for (const auto& [key, value] : entries) insert_or_assign(key, value);
  }

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] iterator begin() noexcept { return entries_.begin(); }
  [[nodiscard]] iterator end() noexcept { return entries_.end(); }
  [[nodiscard]] const_iterator begin() const noexcept { return entries_.begin(); }
  [[nodiscard]] const_iterator end() const noexcept { return entries_.end(); }
  void reserve(std::size_t count) { entries_.reserve(count); }
  void clear() noexcept { entries_.clear(); }

  [[nodiscard]] iterator find(const K& key) { return entries_.begin() + position(key); }
  [[nodiscard]] const_iterator find(const K& key) const { return entries_.begin() + position(key); }
  [[nodiscard]] bool contains(const K& key) const { return find(key) != end(); }
  // Throws IndexError if there is no such key.
  [[nodiscard]] const V& at(const K& key) const {
    const_iterator found = find(key);
    OPGEN_CHECK_INDEX(found != end(), "the dict of ", size(), " entries has no such key");
    return found->value();
  }
  // An existing key keeps its value.
  std::pair<iterator, bool> insert(K key, V value) {
    iterator found = find(key);
    if (found != end()) return {found, false};
    entries_.emplace_back(std::move(key), std::move(value));
    return {end() - 1, true};
  }
  std::pair<iterator, bool> insert_or_assign(K key, V value) {
    iterator found = find(key);
    if (found == end()) return insert(std::move(key), std::move(value));
    found->setValue(std::move(value));
    return {found, false};
  }
  // Returns the number of removed entries.
  std::size_t erase(const K& key) {
    iterator found = find(key);
    if (found == end()) return 0;
    entries_.erase(found);
    return 1;
  }
  [[nodiscard]] bool operator==(const Dict&) const = default;

 private:
  [[nodiscard]] std::ptrdiff_t position(const K& key) const {
    std::ptrdiff_t i = 0;
    for (const Entry& entry : entries_) {
      if constexpr (requires { key.is_same(key); }) {
        if (entry.key().is_same(key)) break;
      } else {
        if (entry.key() == key) break;
      }
      ++i;
    }
    return i;
  }

  std::vector<Entry> entries_;
};

}  // namespace opgen
