// library.cpp: the class behind the registration macros.
#include "opgen/schema/library.h"

#include "opgen/schema/function_schema.h"

namespace opgen {

CppFunction::CppFunction(void* function, bool with_keys, const Boxing* unboxed,
                         const CppSignature* signature) noexcept
    : kernel_(KernelFunction::from_unboxed(function, with_keys, unboxed)), signature_(signature) {}

CppFunction::~CppFunction() = default;

Library::Library(Kind kind, std::string_view ns, DispatchKey key, const char* file, int line)
    : kind_(kind), ns_(ns), key_(key), place_(std::string(file) + ":" + std::to_string(line)) {
  OPGEN_CHECK(ns != "_" || kind == Kind::Impl, place_,
              ": namespace _ is for fallbacks, in OPGEN_LIBRARY_IMPL");
  if (kind == Kind::Def) handles_.push_back(Dispatcher::singleton().claim_namespace(ns, place_));
}

Library::~Library() {
  // Remove in reverse order, so that a kernel is removed before its schema.
  while (!handles_.empty()) handles_.pop_back();
}

std::pair<std::string, std::string> Library::qualified(std::string_view name) const {
  auto [base, overload] = split_operator_name(name);
  std::size_t colons = base.find("::");
  if (colons == std::string::npos) return {ns_ + "::" + base, overload};
  OPGEN_CHECK(base.substr(0, colons) == ns_ || ns_ == "_", place_, ": ", name,
              " does not belong to namespace ", ns_);
  return {base, overload};
}

Library& Library::def(std::string_view schema) {
  return def(schema, std::vector<std::string>());
}

Library& Library::def(std::string_view schema, const std::vector<std::string>& tags) {
  OPGEN_CHECK(kind_ != Kind::Impl, place_,
              ": define operators in OPGEN_LIBRARY or OPGEN_LIBRARY_FRAGMENT");
  FunctionSchema parsed = parse_schema(schema, ns_);
  auto [name, overload] = qualified(parsed.full_name());
  std::string joined;
  for (const std::string& tag : tags) joined += (joined.empty() ? "" : ",") + tag;
  handles_.push_back(
      Dispatcher::singleton().register_schema(name, overload, schema, joined, place_, nullptr));
  return *this;
}

Library& Library::def(std::string_view schema, const CppFunction& function) {
  std::string text(schema);
  if (schema.find('(') == std::string_view::npos) {
    OPGEN_CHECK(function.signature() != nullptr, place_, ": ", schema,
                " is defined with a boxed function, from which no schema can be inferred; write "
                "the schema");
    text = function.signature()->infer_schema(schema);
  }
  def(text);
  return impl(parse_schema(text, ns_).full_name(), DispatchKey::CompositeImplicitAutograd,
              function);
}

Library& Library::impl(std::string_view name, const CppFunction& function) {
  return impl(name, key_, function);
}

Library& Library::impl(std::string_view name, DispatchKey key, const CppFunction& function) {
  OPGEN_CHECK(key_ == DispatchKey::Undefined || key == key_ || kind_ != Kind::Impl, place_, ": ",
              name, " is registered for ", key, " in a block for ", key_);
  OPGEN_CHECK(ns_ != "_" || name.find("::") != std::string_view::npos, place_,
              ": in namespace _, write the operator's name with its namespace");
  auto [base, overload] = qualified(name);
  handles_.push_back(Dispatcher::singleton().register_kernel(
      base, overload, key, function.kernel(), place_, function.signature(), function.owner()));
  return *this;
}

Library& Library::fallback(const CppFunction& function) {
  OPGEN_CHECK(kind_ == Kind::Impl && ns_ == "_", place_,
              ": a fallback serves every namespace: register it in OPGEN_LIBRARY_IMPL(_, key, m)");
  handles_.push_back(Dispatcher::singleton().register_fallback(key_, function.kernel(), place_));
  return *this;
}

}  // namespace opgen
