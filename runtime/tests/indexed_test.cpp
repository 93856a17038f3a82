// indexed_test.cpp: sheets cover each index once, in the promised order, and copies of rows equal
// copies of elements.
#include "opgen/cpu/indexed.h"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "check.h"
#include "opgen/core/parallel.h"
#include "tensors.h"

using namespace tensors;
using opgen::Divide;
using opgen::Sheet;

namespace {

// How often the sheets visit each offset of the first operand, which is below `most`.
std::vector<int> visits(IntArrayRef sizes, std::int64_t dim, IntArrayRef strides, Divide divide,
                        std::size_t most) {
  std::mutex guard;
  std::vector<int> result(most, 0);
  opgen::for_each_sheet(sizes, dim, {strides}, divide, [&](const Sheet& sheet) {
    const std::lock_guard<std::mutex> lock(guard);
    for (std::int64_t k = sheet.begin; k < sheet.end; ++k) {
      for (std::int64_t j = 0; j < sheet.run; ++j) {
        const std::int64_t at = sheet.offsets[0] + k * sheet.steps[0] + j * sheet.run_steps[0];
        ++result.at(static_cast<std::size_t>(at));
      }
    }
  });
  return result;
}

std::size_t visited(const std::vector<int>& counts) {
  return static_cast<std::size_t>(
      std::count_if(counts.begin(), counts.end(), [](int n) { return n > 0; }));
}

}  // namespace

TEST(sheets_cover_each_index_once) {
  const int before = opgen::get_num_threads();
  for (int threads : {1, 3}) {
    opgen::set_num_threads(threads);
    for (Divide divide : {Divide::kNothing, Divide::kOthers, Divide::kAll}) {
      for (std::int64_t dim = -1; dim < 3; ++dim) {
        for (const DimVector& strides : {DimVector{2080, 52, 1}, DimVector{1, 100, 4000}}) {
          const std::vector<int> found = visits({100, 40, 50}, dim, strides, divide, 208000);
          CHECK_EQ(visited(found), 200000u);
          CHECK_EQ(*std::max_element(found.begin(), found.end()), 1);
        }
      }
    }
  }
  opgen::set_num_threads(before);
  CHECK_EQ(visited(visits({}, -1, {}, Divide::kAll, 1)), 1u);
  CHECK_EQ(visited(visits({3, 0}, 0, {1, 1}, Divide::kAll, 9)), 0u);
}

TEST(bad_indices) {
  std::vector<std::int64_t> indices(100, 5);
  const auto bad = [&](std::int64_t low, std::int64_t size) {
    return opgen::find_bad_index(indices.data(), 100, 1, low, size);
  };
  CHECK_EQ(bad(0, 6), -1);
  CHECK_EQ(bad(0, 5), 0);
  CHECK_EQ(bad(0, 0), 0);
  CHECK_EQ(opgen::find_bad_index(indices.data(), 0, 1, 0, 0), -1);
  indices[70] = -1;
  CHECK_EQ(bad(0, 6), 70);
  CHECK_EQ(bad(-6, 6), -1);
  for (std::int64_t value :
       {INT64_MIN, INT64_MIN + 6, std::int64_t(-7), std::int64_t(6), INT64_MAX}) {
    indices[70] = value;
    CHECK_EQ(bad(0, 6), 70);
    CHECK_EQ(bad(-6, 6), 70);
    CHECK_EQ(opgen::find_bad_index(indices.data(), 50, 2, -6, 6), 35);
  }
}

TEST(runs) {
  for (std::size_t size : {1u, 2u, 4u, 8u, 16u}) {
    for (std::int64_t from_stride : {1, -1, 2, -3, 0}) {
      for (std::int64_t to_stride : {1, 2}) {
        constexpr std::int64_t n = 67;
        std::vector<unsigned char> from(size * n * 6), to(size * n * 2, 0), expected;
        std::iota(from.begin(), from.end(), static_cast<unsigned char>(1));
        expected = to;
        const auto s = static_cast<std::int64_t>(size);
        const char* first = reinterpret_cast<const char*>(from.data()) + 3 * n * s;
        for (std::int64_t i = 0; i < n; ++i) {
          std::memcpy(expected.data() + i * to_stride * s, first + i * from_stride * s, size);
        }
        opgen::copy_run(reinterpret_cast<char*>(to.data()), to_stride, first, from_stride, n, size);
        CHECK(to == expected);
      }
    }
  }
}

TEST(rows_of_bytes) {
  for (std::size_t length = 0; length < 2100; length += length < 70 ? 1 : 97) {
    constexpr std::int64_t count = 3;
    const auto to_step = static_cast<std::int64_t>(length) + 5;
    const auto from_step = static_cast<std::int64_t>(length) + 2;
    std::vector<char> from(static_cast<std::size_t>(count * from_step));
    std::iota(from.begin(), from.end(), static_cast<char>(1));
    std::vector<char> to(static_cast<std::size_t>(count * to_step), '\0'), expected = to;
    for (std::int64_t k = 0; k < count; ++k) {
      std::memcpy(expected.data() + k * to_step, from.data() + k * from_step, length);
    }
    opgen::copy_rows(to.data(), to_step, from.data(), from_step, count, length);
    CHECK(to == expected);
  }
}

TEST(gathering_and_scattering) {
  const std::vector<std::int64_t> indices{4, 0, 4, 2};
  for (std::int64_t columns : {1, 2, 3, 4, 8, 16, 33}) {
    for (bool turned : {false, true}) {
      // Rows of the source, or its columns.
      const Tensor source = turned ? t(arange({columns, 5})) : arange({5, columns});
      Tensor out = empty({4, columns});
      opgen::for_each_sheet(out.sizes(), 0, {out.strides(), source.strides()}, Divide::kAll,
                            [&](const Sheet& sheet) {
                              opgen::gather_sheet(sheet, static_cast<char*>(out.mutable_data_ptr()),
                                                  static_cast<const char*>(source.const_data_ptr()),
                                                  indices.data(), 4);
                            });
      const std::vector<double> all = values(source), got = values(out);
      for (std::size_t i = 0; i < got.size(); ++i) {
        const auto width = static_cast<std::size_t>(columns);
        CHECK_EQ(got[i], all[static_cast<std::size_t>(indices[i / width]) * width + i % width]);
      }
      // The last of two rows for one place stays.
      Tensor back = full({5, columns}, -1);
      opgen::for_each_sheet(
          out.sizes(), 0, {back.strides(), out.strides()}, Divide::kOthers,
          [&](const Sheet& sheet) {
            opgen::scatter_sheet(sheet, static_cast<char*>(back.mutable_data_ptr()),
                                 static_cast<const char*>(out.const_data_ptr()), indices.data(), 4);
          });
      const std::vector<double> scattered = values(back);
      for (std::size_t i = 0; i < scattered.size(); ++i) {
        const std::size_t row = i / static_cast<std::size_t>(columns);
        CHECK_EQ(scattered[i], row == 1 || row == 3 ? -1 : all[i]);
      }
    }
  }
}
