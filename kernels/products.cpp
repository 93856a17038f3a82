// products.cpp: products of vectors, matrices and batches that are made of those in matmul.cpp:
// addmv, addr, addbmm, vdot, tensordot, einsum; and the cross product.
#include <opgen/kernel.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <aten/ops/addbmm.h>
#include <aten/ops/addbmm_native.h>
#include <aten/ops/addcmul.h>
#include <aten/ops/addmm.h>
#include <aten/ops/addmv_native.h>
#include <aten/ops/addr.h>
#include <aten/ops/addr_native.h>
#include <aten/ops/bmm.h>
#include <aten/ops/conj_physical.h>
#include <aten/ops/cross.h>
#include <aten/ops/cross_native.h>
#include <aten/ops/dot.h>
#include <aten/ops/einsum_native.h>
#include <aten/ops/linalg_cross.h>
#include <aten/ops/linalg_cross_native.h>
#include <aten/ops/mm.h>
#include <aten/ops/mul.h>
#include <aten/ops/outer.h>
#include <aten/ops/sum.h>
#include <aten/ops/tensordot.h>
#include <aten/ops/tensordot_native.h>
#include <aten/ops/vdot.h>
#include <aten/ops/vdot_native.h>

#include <opgen/cpu/loops.h>
#include <opgen/cpu/vec.h>
#include <opgen/tensor/memory_overlap.h>

#include "common.h"
#include "composite.h"
#include "devices.h"

using namespace kernels;

// ---- vdot, addmv, addr, addbmm ----

OPGEN_KERNEL(vdot)(const Tensor& self, const Tensor& other) {
  return at::dot(self.is_complex() ? at::conj_physical(self) : self, other);
}
OPGEN_KERNEL(vdot_out)(const Tensor& self, const Tensor& other, Tensor& out) {
  return copy_result(out, at::vdot(self, other), "vdot");
}

OPGEN_META_FUNC(addmv)
(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& /*beta*/,
 const Scalar& /*alpha*/) {
  OPGEN_CHECK(mat.dim() == 2 && vec.dim() == 1 && self.dim() <= 1,
              "vector + matrix @ vector expected, got ", self.dim(), ", ", mat.dim(), ", ",
              vec.dim());
  OPGEN_CHECK(mat.size(1) == vec.size(0), "size mismatch, got input (", self.numel(), "), mat (",
              mat.size(0), "x", mat.size(1), "), vec (", vec.size(0), ")");
  OPGEN_CHECK(self.scalar_type() == mat.scalar_type() && mat.scalar_type() == vec.scalar_type(),
              "addmv: expected tensors of one dtype, but got ", self.scalar_type(), ", ",
              mat.scalar_type(), " and ", vec.scalar_type());
  check_same_device("addmv", self, mat);
  check_same_device("addmv", mat, vec);
  const DimVector shape = {mat.size(0)};
  OPGEN_CHECK(opgen::is_expandable_to(self.sizes(), shape), "size mismatch, got input (",
              self.numel(), "), mat (", mat.size(0), "x", mat.size(1), "), vec (", vec.size(0),
              ")");
  set_output_raw_strided(0, shape, {}, vec.options());
}
OPGEN_IMPL_FUNC(addmv_out_cpu)
(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha,
 const Tensor& out) {
  Tensor column = out.unsqueeze(1);
  at::addmm_out(column, self.expand(out.sizes()).unsqueeze(1), mat, vec.unsqueeze(1), beta, alpha);
}

namespace {

void check_addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
                const Scalar& alpha) {
  OPGEN_CHECK(vec1.dim() == 1, "addr: Expected 1-D argument vec1, but got ", vec1.dim(), "-D");
  OPGEN_CHECK(vec2.dim() == 1, "addr: Expected 1-D argument vec2, but got ", vec2.dim(), "-D");
  OPGEN_CHECK(opgen::is_expandable_to(self.sizes(), {vec1.size(0), vec2.size(0)}),
              "size mismatch, input: ", self.sizes(), ", v1: ", vec1.sizes(),
              ", v2: ", vec2.sizes());
  const ScalarType dtype =
      opgen::promote_types(self.scalar_type(), opgen::result_type_of(vec1, vec2));
  const auto check = [&](const Scalar& factor, const char* name) {
    OPGEN_CHECK(!factor.isBoolean() || dtype == kBool, "Boolean ", name,
                " only supported for Boolean results.");
    OPGEN_CHECK(
        isFloatingType(dtype) || isComplexType(dtype) || factor.isIntegral(/*include_bool=*/true),
        "For integral input tensors, argument ", name, " must not be a floating point number.");
    OPGEN_CHECK(isComplexType(dtype) || !factor.isComplex(), "For real input tensors, argument ",
                name, " must not be a complex number.");
    OPGEN_DISPATCH_ALL(opgen::toOpMathType(dtype), "addr",
                       [&] { static_cast<void>(factor.to<scalar_t>()); });
  };
  check(beta, "beta");
  check(alpha, "alpha");
}

bool is_one(const Scalar& factor) {
  return factor.isBoolean() ? factor.to<bool>() : factor.equal(1);
}
bool is_zero(const Scalar& factor) {
  return factor.isBoolean() ? !factor.to<bool>() : factor.equal(0);
}

// Whether addcmul computes the sum, without a matrix of products.
bool adds_product(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta) {
  const ScalarType dtype = self.scalar_type();
  return is_one(beta) && (dtype == kFloat || dtype == opgen::kDouble) &&
         vec1.scalar_type() == dtype && vec2.scalar_type() == dtype;
}

// to[i] = from[i] + factor * row[i]; `to` may be `from`.
template <class T, int bytes>
OPGEN_ALWAYS_INLINE void add_scaled_here(T* to, const T* from, T factor, const T* row, int64_t n) {
  using V = opgen::Vec<T, bytes>;
  const V factors(factor);
  int64_t i = 0;
  for (; i + V::size <= n; i += V::size) {
    (V::load(from + i) + factors * V::load(row + i)).store(to + i);
  }
  for (; i < n; ++i) to[i] = from[i] + factor * row[i];
}
#if OPGEN_LOOPS_AVX2
template <class T>
OPGEN_NOINLINE OPGEN_TARGET_AVX2 void add_scaled_avx2(T* to, const T* from, T factor, const T* row,
                                                      int64_t n) {
  add_scaled_here<T, 32>(to, from, factor, row, n);
}
#endif
template <class T>
OPGEN_NOINLINE void add_scaled(T* to, const T* from, T factor, const T* row, int64_t n) {
#if OPGEN_LOOPS_AVX2
  if (opgen::get_cpu_capability() >= opgen::CPUCapability::AVX2)
    return add_scaled_avx2(to, from, factor, row, n);
#endif
  add_scaled_here<T, 16>(to, from, factor, row, n);
}

// Whether add_product can write `out`: rows of adjacent elements.
bool has_lines(const Tensor& self, const Tensor& vec2, const Tensor& out) {
  return !out.is_meta() && out.device().is_cpu() && same_sizes(self.sizes(), out.sizes()) &&
         self.stride(1) == 1 && out.stride(1) == 1 && vec2.stride(0) == 1;
}
// Adds to each row of `self` a multiple of vec2.
void add_product(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& alpha,
                 const Tensor& out) {
  const int64_t columns = out.size(1);
  const int64_t grain = std::max<int64_t>(1, opgen::kGrainSize / std::max<int64_t>(1, columns));
  OPGEN_DISPATCH_FLOATING_TYPES(out.scalar_type(), "addr", [&] {
    const scalar_t factor = alpha.to<scalar_t>();
    const scalar_t* from = self.const_data_ptr<scalar_t>();
    const scalar_t* left = vec1.const_data_ptr<scalar_t>();
    const scalar_t* right = vec2.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    opgen::parallel_for(0, out.size(0), grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        add_scaled(to + i * out.stride(0), from + i * self.stride(0),
                   factor * left[i * vec1.stride(0)], right, columns);
      }
    });
  });
}

}  // namespace

OPGEN_KERNEL(addr)
(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
 const Scalar& alpha) {
  check_addr(self, vec1, vec2, beta, alpha);
  const ScalarType dtype =
      opgen::promote_types(self.scalar_type(), opgen::result_type_of(vec1, vec2));
  if (adds_product(self, vec1, vec2, beta)) {
    if (vec1.device().is_cpu() && same_sizes(self.sizes(), {vec1.size(0), vec2.size(0)})) {
      const Tensor out = opgen::empty(self.sizes(), self.options());
      if (has_lines(self, vec2, out)) {
        add_product(self, vec1, vec2, alpha, out);
        return out;
      }
    }
    return at::addcmul(self, vec1.unsqueeze(1), vec2, alpha);
  }
  // Half types are rounded once.
  const ScalarType wide = opgen::isReducedFloatingType(dtype) ? kFloat : dtype;
  const Tensor product = at::outer(to_dtype(vec1, wide), to_dtype(vec2, wide));
  const Tensor added = is_one(alpha) ? product : product.mul(alpha);
  // With beta 0, `self` is ignored, even if it contains NaN.
  if (is_zero(beta)) return to_dtype(added, dtype);
  const Tensor from = to_dtype(self, wide);
  return to_dtype((is_one(beta) ? from : from.mul(beta)).add(added, 1), dtype);
}
namespace {

// `out` may be `self`.
Tensor& addr_into(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
                  const Scalar& alpha, Tensor& out) {
  const bool fits =
      vec1.dim() == 1 && vec2.dim() == 1 && same_sizes(out.sizes(), {vec1.size(0), vec2.size(0)});
  if (fits && out.scalar_type() == self.scalar_type() && adds_product(self, vec1, vec2, beta)) {
    check_addr(self, vec1, vec2, beta, alpha);
    if (has_lines(self, vec2, out) && !opgen::share_elements(out, vec1) &&
        !opgen::share_elements(out, vec2)) {
      opgen::assert_no_internal_overlap(out);
      opgen::assert_no_partial_overlap(out, self);
      add_product(self, vec1, vec2, alpha, out);
      return out;
    }
    return at::addcmul_out(out, self, vec1.unsqueeze(1), vec2, alpha);
  }
  const Tensor result = at::addr(self, vec1, vec2, beta, alpha);
  OPGEN_CHECK(!out.is_same(self) || same_sizes(out.sizes(), result.sizes()),
              "addr_: the tensor has sizes ", self.sizes(), ", but the result ", result.sizes());
  return cast_result(out, result);
}

}  // namespace

OPGEN_KERNEL(addr_)
(Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) {
  return addr_into(self, vec1, vec2, beta, alpha, self);
}
OPGEN_KERNEL(addr_out)
(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
 const Scalar& alpha, Tensor& out) {
  return addr_into(self, vec1, vec2, beta, alpha, out);
}

namespace {

// A sum of products of matrices is a product of wider ones.
Tensor& addbmm_into(Tensor& out, const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                    const Scalar& beta, const Scalar& alpha) {
  OPGEN_CHECK(batch1.dim() == 3, "batch1 must be a 3D tensor");
  OPGEN_CHECK(batch2.dim() == 3, "batch2 must be a 3D tensor");
  OPGEN_CHECK(batch1.size(0) == batch2.size(0),
              "batch1 and batch2 must have same number of batches, got ", batch1.size(0), " and ",
              batch2.size(0));
  OPGEN_CHECK(batch1.size(2) == batch2.size(1), "Incompatible matrix sizes for bmm (",
              batch1.size(1), "x", batch1.size(2), " and ", batch2.size(1), "x", batch2.size(2),
              ")");
  const int64_t inner = batch1.size(0) * batch1.size(2);
  // An output that is resized cannot be added.
  const bool resizes =
      out.is_same(self) && !same_sizes(out.sizes(), {batch1.size(1), batch2.size(2)});
  const Tensor addend = resizes ? Tensor(opgen::clone(self)) : self;
  const Tensor left = batch1.permute({1, 0, 2}).reshape({batch1.size(1), inner});
  return at::addmm_out(out, addend, left, batch2.reshape({inner, batch2.size(2)}), beta, alpha);
}

}  // namespace

OPGEN_KERNEL(addbmm)
(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
 const Scalar& alpha) {
  Tensor out = opgen::empty({0}, self.options());
  return addbmm_into(out, self, batch1, batch2, beta, alpha);
}
OPGEN_KERNEL(addbmm_)
(Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
 const Scalar& alpha) {
  return addbmm_into(self, self, batch1, batch2, beta, alpha);
}
OPGEN_KERNEL(addbmm_out)
(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
 const Scalar& alpha, Tensor& out) {
  return addbmm_into(out, self, batch1, batch2, beta, alpha);
}

// ---- tensordot ----

namespace {

// The dimensions that are not in `mask`, before or after the contracted ones.
DimVector order_of(int64_t ndim, DimMask mask, const DimVector& contracted, bool contracted_first) {
  DimVector order;
  if (contracted_first) order = contracted;
  for (int64_t d = 0; d < ndim; ++d) {
    if (!has_dim(mask, d)) order.push_back(d);
  }
  if (!contracted_first) {
    for (int64_t d : contracted) order.push_back(d);
  }
  return order;
}

DimVector wrapped(IntArrayRef dims, int64_t ndim, DimMask& mask) {
  OPGEN_CHECK(ndim <= 64, "tensordot(): more than 64 dimensions");
  DimVector result;
  for (int64_t dim : dims) {
    const int64_t d = wrap_dim(dim, ndim);
    OPGEN_CHECK(!has_dim(mask, d), "dim ", d, " appears multiple times in the list of dims");
    mask |= DimMask(1) << d;
    result.push_back(d);
  }
  return result;
}

}  // namespace

OPGEN_KERNEL(tensordot)
(const Tensor& self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other) {
  OPGEN_CHECK(dims_self.size() == dims_other.size(),
              "both dimension lists should have same length");
  OPGEN_CHECK(self.scalar_type() == other.scalar_type(), "both inputs should have same dtype");
  DimMask mask1 = 0, mask2 = 0;
  const DimVector dims1 = wrapped(dims_self, self.dim(), mask1);
  const DimVector dims2 = wrapped(dims_other, other.dim(), mask2);
  Tensor left = self, right = other;
  int64_t inner = 1;
  for (size_t i = 0; i < dims1.size(); ++i) {
    const int64_t size1 = left.size(dims1[i]), size2 = right.size(dims2[i]);
    OPGEN_CHECK(size1 == size2 || size1 == 1 || size2 == 1,
                "contracted dimensions need to match, but first has size ", size1, " in dim ",
                dims1[i], " and second has size ", size2, " in dim ", dims2[i]);
    // A dimension of size 1 is that of a factor of the sum.
    if (size2 == 1 && size1 != 1) left = left.sum(dims1[i], true, left.scalar_type());
    if (size1 == 1 && size2 != 1) right = right.sum(dims2[i], true, right.scalar_type());
    inner *= left.size(dims1[i]);
  }
  DimVector shape;
  int64_t rows = 1, columns = 1;
  for (int64_t d = 0; d < left.dim(); ++d) {
    if (has_dim(mask1, d)) continue;
    shape.push_back(left.size(d));
    rows *= left.size(d);
  }
  for (int64_t d = 0; d < right.dim(); ++d) {
    if (has_dim(mask2, d)) continue;
    shape.push_back(right.size(d));
    columns *= right.size(d);
  }
  left = left.permute(order_of(left.dim(), mask1, dims1, false)).reshape({rows, inner});
  right = right.permute(order_of(right.dim(), mask2, dims2, true)).reshape({inner, columns});
  return (inner == 1 ? at::mul(left, right) : at::mm(left, right)).reshape(shape);
}
OPGEN_KERNEL(tensordot_out)
(const Tensor& self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other,
 Tensor& out) {
  const Tensor result = at::tensordot(self, other, dims_self, dims_other);
  OPGEN_CHECK(out.scalar_type() == result.scalar_type(),
              "tensordot: Expected out tensor to have dtype ", result.scalar_type(), ", but got ",
              out.scalar_type(), " instead");
  return write_out(out, result);
}

// ---- einsum ----

namespace {

// The ellipsis of a term; letters are numbered from 0 to 51, upper case first, as they are ordered.
constexpr int kEllipsis = 52, kLabels = 53;
using Term = std::vector<int>;

int label_of(char letter) {
  return letter >= 'a' ? letter - 'a' + 26 : letter - 'A';
}

bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

// Reads the labels of one term, in which blanks do not count.
Term read_term(std::string_view text, const char* what) {
  Term term;
  bool has_ellipsis = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text[i] == '.') {
      OPGEN_CHECK(!has_ellipsis && text.substr(i, 3) == "...", "einsum(): found '.' in ", what,
                  " that is not part of any ellipsis, or of a second one");
      has_ellipsis = true;
      term.push_back(kEllipsis);
      i += 2;
      continue;
    }
    OPGEN_CHECK(is_letter(text[i]), "einsum(): invalid subscript given in ", what,
                ": subscripts must be in [a-zA-Z], and no ", text.substr(i, 1));
    term.push_back(label_of(text[i]));
  }
  return term;
}

struct Equation {
  std::vector<Term> terms;
  Term result;
};

Equation read_equation(std::string_view text) {
  Equation equation;
  const size_t arrow = text.find("->");
  std::string_view left = text.substr(0, arrow);
  for (size_t end = 0; end != std::string_view::npos;) {
    end = left.find(',');
    equation.terms.push_back(read_term(left.substr(0, end), "an operand"));
    if (end != std::string_view::npos) left.remove_prefix(end + 1);
  }
  std::array<int, kLabels> count{};
  for (const Term& term : equation.terms) {
    for (int label : term) ++count[static_cast<size_t>(label)];
  }
  if (arrow == std::string_view::npos) {
    // The ellipsis, then the letters that appear once.
    if (count[kEllipsis] > 0) equation.result.push_back(kEllipsis);
    for (int label = 0; label < kEllipsis; ++label) {
      if (count[static_cast<size_t>(label)] == 1) equation.result.push_back(label);
    }
    return equation;
  }
  equation.result = read_term(text.substr(arrow + 2), "the output");
  for (int label : equation.result) {
    OPGEN_CHECK(std::count(equation.result.begin(), equation.result.end(), label) == 1,
                "einsum(): an output subscript appears more than once in the output");
    OPGEN_CHECK(label == kEllipsis || count[static_cast<size_t>(label)] > 0,
                "einsum(): an output subscript does not appear in the equation for any input "
                "operand");
  }
  return equation;
}

// Where the labels are among the dimensions that all operands get: those of the result first.
class Dimensions {
 public:
  Dimensions(const Equation& equation, TensorList operands) {
    for (size_t i = 0; i < operands.size(); ++i) {
      const Term& term = equation.terms[i];
      const auto letters = static_cast<int64_t>(
          std::count_if(term.begin(), term.end(), [](int label) { return label != kEllipsis; }));
      const bool open = static_cast<int64_t>(term.size()) > letters;
      OPGEN_CHECK(open ? operands[i].dim() >= letters : operands[i].dim() == letters,
                  "einsum(): the number of subscripts in the equation (", letters,
                  open ? ") is more than the number of dimensions ("
                       : ") does not match the number of dimensions (",
                  operands[i].dim(), ") for operand ", i, open ? "" : " and no ellipsis was given");
      covered_ = std::max(covered_, operands[i].dim() - letters);
    }
    first_.fill(-1);
    for (int label : equation.result) place(label);
    results_ = ndim_;
    for (const Term& term : equation.terms) {
      for (int label : term) place(label);
    }
  }

  int64_t ndim() const { return ndim_; }
  int64_t results() const { return results_; }

  // Gives an operand all dimensions; those whose labels it does not have are of size 1. Of a
  // repeated label, the diagonal is taken.
  Tensor spread(const Tensor& operand, const Term& term, size_t number) const {
    Tensor self = operand;
    DimVector from(static_cast<size_t>(ndim_), -1);
    int64_t d = 0;
    for (int label : term) {
      if (label == kEllipsis) {
        const int64_t covered = operand.dim() - static_cast<int64_t>(term.size()) + 1;
        for (int64_t k = 0; k < covered; ++k) {
          from[static_cast<size_t>(first_[kEllipsis] + covered_ - covered + k)] = d++;
        }
        continue;
      }
      int64_t& dim = from[static_cast<size_t>(first_[static_cast<size_t>(label)])];
      if (dim < 0) {
        dim = d++;
        continue;
      }
      OPGEN_CHECK(self.size(dim) == self.size(d), "einsum(): a subscript is repeated for operand ",
                  number, " but the sizes don't match, ", self.size(dim), " and ", self.size(d));
      // The diagonal is the last dimension of its view.
      self = self.diagonal(0, dim, d);
      DimVector order;
      for (int64_t k = 0; k < self.dim() - 1; ++k) order.push_back(k);
      order.insert(order.begin() + dim, self.dim() - 1);
      self = self.permute(order);
    }
    DimVector order;
    for (int64_t dim : from) {
      if (dim >= 0) order.push_back(dim);
    }
    self = self.permute(order);
    for (int64_t k = 0; k < ndim_; ++k) {
      if (from[static_cast<size_t>(k)] < 0) self = self.unsqueeze(k);
    }
    return self;
  }

 private:
  void place(int label) {
    int64_t& first = first_[static_cast<size_t>(label)];
    if (first >= 0) return;
    first = ndim_;
    ndim_ += label == kEllipsis ? covered_ : 1;
  }

  std::array<int64_t, kLabels> first_{};
  int64_t covered_ = 0, ndim_ = 0, results_ = 0;
};

// The product of two tensors with the same number of dimensions, summed over those in `summed`,
// which keep the size 1.
Tensor contracted(Tensor a, Tensor b, DimMask summed) {
  DimVector batch, only_a, only_b, inner, shape;
  int64_t batches = 1, rows = 1, columns = 1, terms = 1;
  for (int64_t d = 0; d < a.dim(); ++d) {
    const int64_t in_a = a.size(d), in_b = b.size(d);
    if (in_a != 1 && in_b != 1) {
      OPGEN_CHECK(in_a == in_b, "einsum(): operands do not broadcast with remapped shapes: ", in_a,
                  " and ", in_b);
      (has_dim(summed, d) ? inner : batch).push_back(d);
      (has_dim(summed, d) ? terms : batches) *= in_a;
    } else if (has_dim(summed, d)) {
      // Only one of the factors depends on it.
      if (in_a != 1) a = a.sum(d, true);
      if (in_b != 1) b = b.sum(d, true);
      inner.push_back(d);
    } else if (in_b != 1) {
      only_b.push_back(d);
      columns *= in_b;
    } else {
      only_a.push_back(d);
      rows *= in_a;
    }
  }
  if (terms == 1) return at::mul(a, b);
  const auto join = [](const DimVector& x, const DimVector& y, const DimVector& z,
                       const DimVector& rest) {
    DimVector all(x);
    for (const DimVector* more : {&y, &z, &rest}) {
      for (int64_t d : *more) all.push_back(d);
    }
    return all;
  };
  const Tensor left = a.permute(join(batch, only_a, inner, only_b)).reshape({batches, rows, terms});
  const Tensor right =
      b.permute(join(batch, inner, only_b, only_a)).reshape({batches, terms, columns});
  const DimVector order = join(batch, only_a, only_b, inner);
  DimVector back(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t d = order[i];
    back[static_cast<size_t>(d)] = static_cast<int64_t>(i);
    shape.push_back(has_dim(summed, d) ? 1 : std::max(a.size(d), b.size(d)));
    if (!has_dim(summed, d) && (a.size(d) == 0 || b.size(d) == 0)) shape.back() = 0;
  }
  return at::bmm(left, right).view(shape).permute(back);
}

// Which dimensions that are not of the result no operand has.
DimMask finished(const std::vector<Tensor>& operands, int64_t results, int64_t ndim) {
  DimMask mask = 0;
  for (int64_t d = results; d < ndim; ++d) {
    const bool used = std::any_of(operands.begin(), operands.end(),
                                  [d](const Tensor& operand) { return operand.size(d) != 1; });
    if (!used) mask |= DimMask(1) << d;
  }
  return mask;
}

}  // namespace

OPGEN_KERNEL(einsum)
(std::string_view equation, TensorList tensors, OptionalIntArrayRef path) {
  OPGEN_CHECK(!tensors.empty(), "einsum(): must provide at least one operand");
  const Equation parsed = read_equation(equation);
  OPGEN_CHECK(parsed.terms.size() >= tensors.size(),
              "einsum(): more operands were provided than specified in the equation");
  OPGEN_CHECK(parsed.terms.size() <= tensors.size(),
              "einsum(): fewer operands were provided than specified in the equation");
  const Dimensions layout(parsed, tensors);
  OPGEN_CHECK(layout.ndim() <= 64, "einsum(): more than 64 dimensions");
  std::vector<Tensor> operands;
  for (size_t i = 0; i < tensors.size(); ++i) {
    operands.push_back(layout.spread(tensors[i], parsed.terms[i], i));
  }
  OPGEN_CHECK(!path.has_value() || path->size() == 2 * (operands.size() - 1) ||
                  (operands.size() == 1 && path->size() == 1),
              "einsum(): expected contraction path given in path parameter to have size ",
              2 * (operands.size() - 1), ", but got ", path.has_value() ? path->size() : 0);
  const auto take = [&](int64_t at) {
    OPGEN_CHECK(at >= 0 && at < static_cast<int64_t>(operands.size()),
                "einsum(): invalid contraction path: ", at, " is not the number of an operand");
    Tensor operand = operands[static_cast<size_t>(at)];
    operands.erase(operands.begin() + at);
    return operand;
  };
  for (size_t step = 0; operands.size() > 1; ++step) {
    int64_t i = 0, j = 1;
    if (path.has_value()) {
      i = std::min((*path)[2 * step], (*path)[2 * step + 1]);
      j = std::max((*path)[2 * step], (*path)[2 * step + 1]);
      OPGEN_CHECK(i != j, "einsum(): invalid contraction path: an operand is multiplied by itself");
    }
    const Tensor b = take(j), a = take(i);
    const DimMask summed = finished(operands, layout.results(), layout.ndim());
    const Tensor product = contracted(a, b, summed);
    operands.insert(path.has_value() ? operands.end() : operands.begin(), product);
  }
  Tensor result = operands[0];
  DimVector rest;
  for (int64_t d = layout.results(); d < layout.ndim(); ++d) {
    if (result.size(d) != 1 || tensors.size() == 1) rest.push_back(d);
  }
  if (!rest.empty()) result = at::sum(result, rest, /*keepdim=*/true, std::nullopt);
  for (int64_t d = layout.ndim(); d-- > layout.results();) result = result.squeeze(d);
  return result;
}

// ---- cross ----

OPGEN_META_FUNC(linalg_cross)(const Tensor& self, const Tensor& other, int64_t dim) {
  OPGEN_CHECK(self.dim() == other.dim(),
              "linalg.cross: inputs must have the same number of dimensions.");
  OPGEN_CHECK(self.scalar_type() == other.scalar_type(),
              "linalg.cross: expected both tensors to have the same dtype, but got ",
              self.scalar_type(), " and ", other.scalar_type());
  check_same_device("linalg.cross", self, other);
  dim = wrap_dim(dim, self.dim());
  OPGEN_CHECK(self.dim() > 0 && self.size(dim) == 3 && other.size(dim) == 3,
              "linalg.cross: inputs dimension ", dim, " must have length 3. Got ", self.sizes(),
              " and ", other.sizes());
  set_output_raw_strided(0, opgen::infer_size(self.sizes(), other.sizes()), {}, self.options());
}
OPGEN_IMPL_FUNC(linalg_cross_out)
(const Tensor& self, const Tensor& other, int64_t dim, const Tensor& out) {
  if (out.numel() == 0) return;
  dim = wrap_dim(dim, self.dim());
  const Tensor left = self.expand(out.sizes()), right = other.expand(out.sizes());
  const int64_t a_step = left.stride(dim), b_step = right.stride(dim), step = out.stride(dim);
  OPGEN_DISPATCH_ALL_BUT_BOOL(self.scalar_type(), "linalg_cross", [&] {
    using wide = sum_t<scalar_t>;
    const scalar_t* a = left.const_data_ptr<scalar_t>();
    const scalar_t* b = right.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    for_each_line<3>(dim, {&out, &left, &right}, [&](const std::array<int64_t, 3>& at) {
      wide x[3], y[3];
      for (int64_t k = 0; k < 3; ++k) {
        x[k] = static_cast<wide>(a[at[1] + k * a_step]);
        y[k] = static_cast<wide>(b[at[2] + k * b_step]);
      }
      for (int64_t k = 0; k < 3; ++k) {
        const int64_t i = (k + 1) % 3, j = (k + 2) % 3;
        to[at[0] + k * step] = static_cast<scalar_t>(minus(times(x[i], y[j]), times(x[j], y[i])));
      }
    });
  });
}

namespace {

// The first dimension of size 3, if none is given.
int64_t cross_dim(const Tensor& self, std::optional<int64_t> dim) {
  if (dim.has_value()) return *dim;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.size(d) == 3) return d;
  }
  OPGEN_CHECK(false, "no dimension of size 3 in input");
}

}  // namespace

OPGEN_KERNEL(cross)(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
  return at::linalg_cross(self, other, cross_dim(self, dim));
}
OPGEN_KERNEL(cross_out)
(const Tensor& self, const Tensor& other, std::optional<int64_t> dim, Tensor& out) {
  return at::linalg_cross_out(out, self, other, cross_dim(self, dim));
}
