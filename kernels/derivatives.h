// derivatives.h: functions that the formulas of derivatives.yaml call. They are made of operators,
// so that formulas have derivatives themselves.
#pragma once

#include <array>
#include <optional>
#include <tuple>
#include <vector>

#include <aten/TensorBody.h>
#include <opgen/autograd/formulas.h>

namespace at::derivatives {

using namespace at::types;

// ---- Numbers -----------------------------------------------------------------------------------

// Returns the tensor itself for 1.
[[nodiscard]] Tensor scaled(const Tensor& tensor, const Scalar& factor);
// A number as a tensor that gives way to other tensors in type promotion.
[[nodiscard]] Tensor number(const Scalar& value);
[[nodiscard]] std::optional<Tensor> number(const std::optional<Scalar>& value);
// What dropout multiplies kept elements by.
[[nodiscard]] double dropout_scale(double p, std::optional<bool> train);

// ---- Shapes ------------------------------------------------------------------------------------

// The permutation that undoes `dims`.
[[nodiscard]] DimVector inverse_order(IntArrayRef dims);
// Gives back the dimensions of size 1 that squeeze() removed from a tensor of these sizes: all,
// or those in `dims`.
[[nodiscard]] Tensor unsqueezed(const Tensor& squeezed, IntArrayRef sizes);
[[nodiscard]] Tensor unsqueezed(const Tensor& squeezed, IntArrayRef sizes, int64_t dim);
[[nodiscard]] Tensor unsqueezed(const Tensor& squeezed, IntArrayRef sizes, IntArrayRef dims);
// Joins the gradients of the parts of a tensor; undefined ones are zeros.
[[nodiscard]] Tensor split_gradient(const std::vector<Tensor>& grads, int64_t split_size,
                                    int64_t dim, IntArrayRef sizes, const TensorOptions& options);
[[nodiscard]] Tensor split_gradient(const std::vector<Tensor>& grads, IntArrayRef split_sizes,
                                    int64_t dim, IntArrayRef sizes, const TensorOptions& options);
[[nodiscard]] Tensor unbind_gradient(const std::vector<Tensor>& grads, int64_t dim);
// The part of the gradient for each tensor of a list that cat() joined.
[[nodiscard]] std::vector<Tensor> cat_gradients(const Tensor& grad,
                                                const std::vector<std::vector<SymInt>>& sizes,
                                                int64_t dim);
// The part of the gradient for each block of block_diag().
[[nodiscard]] std::vector<Tensor> block_diag_gradients(
    const Tensor& grad, const std::vector<std::vector<SymInt>>& sizes);
// Undoes constant_pad_nd().
[[nodiscard]] Tensor unpadded(const Tensor& grad, IntArrayRef pad);
[[nodiscard]] Tensor cumprod_gradient(const Tensor& grad, const Tensor& self, int64_t dim);
[[nodiscard]] Tensor cumprod_tangent(const Tensor& tangent, const Tensor& self, int64_t dim);
// Undoes roll().
[[nodiscard]] Tensor roll_back(const Tensor& grad, IntArrayRef shifts, IntArrayRef dims);
[[nodiscard]] Tensor repeat_gradient(const Tensor& grad, IntArrayRef repeats, IntArrayRef sizes);
// `self` has the geometry of the tensor of which as_strided() made a view of the other arguments'
// geometry. Elements of the view that share memory add up; the gradient of elements of `self` that
// share memory is shared equally.
[[nodiscard]] Tensor as_strided_tangent(const Tensor& self_t, const Tensor& self, IntArrayRef size,
                                        IntArrayRef stride, std::optional<int64_t> storage_offset);
[[nodiscard]] Tensor as_strided_gradient(const Tensor& grad,
                                         const opgen::autograd::formulas::TensorGeometry& self,
                                         IntArrayRef size, IntArrayRef stride,
                                         std::optional<int64_t> storage_offset);

// ---- Indexing ----------------------------------------------------------------------------------

// What index_add() added to each element of a tensor of these sizes.
[[nodiscard]] Tensor selected_like(const Tensor& grad, int64_t dim, const Tensor& index,
                                   IntArrayRef source_sizes);
// The sum of the elements in the rows that `index` selects; a row that is selected twice counts
// once.
[[nodiscard]] Tensor sum_of_selected(const Tensor& grad, int64_t dim, const Tensor& index);
[[nodiscard]] Tensor take_gradient(const Tensor& grad, IntArrayRef sizes, const Tensor& index);
[[nodiscard]] Tensor masked_select_gradient(const Tensor& grad, IntArrayRef sizes,
                                            const Tensor& mask);
// What masked_scatter() took from a tensor of these sizes.
[[nodiscard]] Tensor masked_scatter_gradient(const Tensor& grad, const Tensor& mask,
                                             IntArrayRef source_sizes);
// The gradients of scatter_reduce() for self and src, those that are wanted.
[[nodiscard]] std::tuple<Tensor, Tensor> scatter_reduce_gradients(
    const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
    std::string_view reduce, bool include_self, const Tensor& result, std::array<bool, 2> wanted);
[[nodiscard]] Tensor scatter_reduce_tangent(const Tensor& self_t, const Tensor& self, int64_t dim,
                                            const Tensor& index, const Tensor& src_t,
                                            const Tensor& src, std::string_view reduce,
                                            bool include_self, const Tensor& result);
// gather() by the indices that a reduction gave.
[[nodiscard]] Tensor gather_reduced(const Tensor& tensor, int64_t dim, const Tensor& indices,
                                    bool keepdim);
// The elements of each plane, the last two dimensions, at places in it.
[[nodiscard]] Tensor gather_from_planes(const Tensor& planes, const Tensor& places);
[[nodiscard]] Tensor embedding_dense_double(const Tensor& grad, const Tensor& indices,
                                            int64_t padding_idx, bool scale_grad_by_freq);

// ---- Tangents ----------------------------------------------------------------------------------

// A product of a tangent; zero, whatever the factor is, for the tangent of an argument without one.
[[nodiscard]] Tensor product(const Tensor& tangent, const Tensor& factor);

// ---- Pointwise ---------------------------------------------------------------------------------

// Half of the gradient where both tensors are equal.
[[nodiscard]] Tensor shared_at_ties(const Tensor& grad, const Tensor& self, const Tensor& other);
// The tangent of the chosen one of two tensors, the mean of both where they are equal.
[[nodiscard]] Tensor chosen_tangent(const Tensor& self_t, const Tensor& self, const Tensor& other_t,
                                    const Tensor& other, const Tensor& is_first);
[[nodiscard]] Tensor pow_gradient(const Tensor& grad, const Tensor& self, const Scalar& exponent);
[[nodiscard]] Tensor pow_gradient(const Tensor& grad, const Tensor& self, const Tensor& exponent);
[[nodiscard]] Tensor pow_gradient_of_exponent(const Tensor& grad, const Tensor& self,
                                              const Tensor& exponent, const Tensor& result);
[[nodiscard]] Tensor pow_gradient_of_exponent(const Tensor& grad, const Scalar& self,
                                              const Tensor& exponent, const Tensor& result);
[[nodiscard]] Tensor pow_tangent(const Tensor& self_t, const Tensor& self, const Tensor& exponent_t,
                                 const Tensor& exponent, const Tensor& result);
// ldexp(direction, exponent) of a gradient or a tangent.
[[nodiscard]] Tensor linear_ldexp(const Tensor& direction, const Tensor& exponent);
// The derivative of `self / |self|` in a direction, which is also its gradient.
[[nodiscard]] Tensor sgn_derivative(const Tensor& direction, const Tensor& self,
                                    const Tensor& result);
[[nodiscard]] Tensor silu_second_derivative(const Tensor& self);
[[nodiscard]] Tensor sinc_derivative(const Tensor& self);
[[nodiscard]] Tensor i1_derivative(const Tensor& self, const Tensor& result);
[[nodiscard]] Tensor logit_derivative(const Tensor& self, std::optional<double> eps);
[[nodiscard]] Tensor mish_derivative(const Tensor& self);
// The second derivative, times a direction and the gradient of the result.
[[nodiscard]] Tensor gelu_second_term(const Tensor& direction, const Tensor& grad_output,
                                      const Tensor& self, std::string_view approximate);
[[nodiscard]] Tensor clamp_gradient(const Tensor& grad, const Tensor& self,
                                    const std::optional<Tensor>& min,
                                    const std::optional<Tensor>& max);
[[nodiscard]] std::tuple<Tensor, Tensor> clamp_gradients_of_limits(const Tensor& grad,
                                                                   const Tensor& self,
                                                                   const std::optional<Tensor>& min,
                                                                   const std::optional<Tensor>& max,
                                                                   std::array<bool, 2> wanted);
// Undefined limits are none.
[[nodiscard]] Tensor clamp_tangent(const Tensor& self, const Tensor& self_t, const Tensor& min,
                                   const Tensor& min_t, const Tensor& max, const Tensor& max_t);

[[nodiscard]] Tensor glu_gradient(const Tensor& grad, const Tensor& self, int64_t dim);
[[nodiscard]] Tensor glu_tangent(const Tensor& tangent, const Tensor& self, int64_t dim);

// ---- Losses: `difference` is that of an argument and the other one ------------------------------

[[nodiscard]] Tensor smooth_l1_gradient(const Tensor& grad, const Tensor& difference,
                                        int64_t reduction, double beta);
[[nodiscard]] Tensor smooth_l1_tangent(const Tensor& tangent, const Tensor& difference,
                                       int64_t reduction, double beta);
[[nodiscard]] Tensor huber_gradient(const Tensor& grad, const Tensor& difference, int64_t reduction,
                                    double delta);
[[nodiscard]] Tensor huber_tangent(const Tensor& tangent, const Tensor& difference,
                                   int64_t reduction, double delta);
[[nodiscard]] Tensor binary_cross_entropy_gradient(const Tensor& grad, const Tensor& self,
                                                   const Tensor& target,
                                                   const std::optional<Tensor>& weight,
                                                   int64_t reduction);
[[nodiscard]] Tensor binary_cross_entropy_gradient_of_target(const Tensor& grad, const Tensor& self,
                                                             const std::optional<Tensor>& weight,
                                                             int64_t reduction);
[[nodiscard]] Tensor binary_cross_entropy_tangent(const Tensor& self_t, const Tensor& self,
                                                  const Tensor& target_t, const Tensor& target,
                                                  const std::optional<Tensor>& weight,
                                                  int64_t reduction);

// ---- Reductions: missing or empty `dims` mean all dimensions
// --------------------------------------

[[nodiscard]] int64_t number_of_terms(IntArrayRef sizes, OptionalIntArrayRef dims);
// Repeats each element of a reduced tensor over the dimensions that were reduced.
[[nodiscard]] Tensor spread(const Tensor& reduced, OptionalIntArrayRef dims, bool keepdim,
                            IntArrayRef sizes);
// The gradient of each extreme, shared among the elements that are equal to it.
[[nodiscard]] Tensor shared_by_extremes(const Tensor& grad, const Tensor& self,
                                        const Tensor& extremes, OptionalIntArrayRef dims,
                                        bool keepdim);
// The mean of the tangents of these elements.
[[nodiscard]] Tensor mean_of_extremes(const Tensor& self_t, const Tensor& self,
                                      const Tensor& extremes, OptionalIntArrayRef dims,
                                      bool keepdim);
// A list of the dimension, or an empty one.
[[nodiscard]] DimVector one_or_all(std::optional<int64_t> dim);
// Gradients may be undefined.
[[nodiscard]] Tensor aminmax_gradient(const Tensor& grad_min, const Tensor& grad_max,
                                      const Tensor& self, const Tensor& min, const Tensor& max,
                                      std::optional<int64_t> dim, bool keepdim);
[[nodiscard]] Tensor prod_gradient(const Tensor& grad, const Tensor& self, const Tensor& result);
[[nodiscard]] Tensor prod_gradient(const Tensor& grad, const Tensor& self, const Tensor& result,
                                   int64_t dim, bool keepdim);
[[nodiscard]] Tensor cumsum_gradient(const Tensor& grad, int64_t dim);
[[nodiscard]] Tensor var_gradient(const Tensor& grad, const Tensor& self, OptionalIntArrayRef dims,
                                  const std::optional<Scalar>& correction, bool keepdim);
[[nodiscard]] Tensor var_tangent(const Tensor& self_t, const Tensor& self, OptionalIntArrayRef dims,
                                 const std::optional<Scalar>& correction, bool keepdim);
// From the gradient of a standard deviation to that of its variance; from the tangent of a variance
// to that of its square root.
[[nodiscard]] Tensor std_to_var(const Tensor& derivative, const Tensor& std);
// Gradients may be undefined.
[[nodiscard]] Tensor var_mean_gradient(const Tensor& grad_var, const Tensor& grad_mean,
                                       const Tensor& self, OptionalIntArrayRef dims,
                                       const std::optional<Scalar>& correction, bool keepdim);
[[nodiscard]] Tensor norm_gradient(const Tensor& grad, const Tensor& self, const Scalar& ord,
                                   const Tensor& norm, OptionalIntArrayRef dims, bool keepdim);
[[nodiscard]] Tensor norm_tangent(const Tensor& self_t, const Tensor& self, const Scalar& ord,
                                  const Tensor& norm, OptionalIntArrayRef dims, bool keepdim);

// Half types are computed in float, and rounded once.
[[nodiscard]] Tensor log_softmax_gradient(const Tensor& grad, const Tensor& result, int64_t dim);

// ---- Normalisation -----------------------------------------------------------------------------

// Tangents and the weight may be undefined.
[[nodiscard]] Tensor convolution_tangent(const Tensor& input_t, const Tensor& input,
                                         const Tensor& weight_t, const Tensor& weight,
                                         const Tensor& bias_t, IntArrayRef stride,
                                         IntArrayRef padding, IntArrayRef dilation, bool transposed,
                                         IntArrayRef output_padding, int64_t groups);
[[nodiscard]] Tensor layer_norm_tangent(const Tensor& input_t, const Tensor& input,
                                        const Tensor& weight_t, const Tensor& weight,
                                        const Tensor& bias_t, const Tensor& mean,
                                        const Tensor& rstd, IntArrayRef normalized_shape);
// The gradients of native_layer_norm_backward for grad_out, input and weight, from those of its
// results, which may be undefined.
[[nodiscard]] std::tuple<Tensor, Tensor, Tensor> layer_norm_double(
    const Tensor& grad_of_input, const Tensor& grad_of_weight, const Tensor& grad_of_bias,
    const Tensor& grad_out, const Tensor& input, const Tensor& mean, const Tensor& rstd,
    const Tensor& weight, IntArrayRef normalized_shape, std::array<bool, 3> wanted);
[[nodiscard]] Tensor batch_norm_tangent(const Tensor& input_t, const Tensor& input,
                                        const Tensor& weight_t, const Tensor& weight,
                                        const Tensor& bias_t,
                                        const std::optional<Tensor>& running_mean,
                                        const std::optional<Tensor>& running_var,
                                        const Tensor& save_mean, const Tensor& save_invstd,
                                        bool training, double eps);
// The gradients of native_batch_norm_backward for input, weight and grad_out.
[[nodiscard]] std::tuple<Tensor, Tensor, Tensor> batch_norm_double(
    const Tensor& grad_of_input, const Tensor& grad_of_weight, const Tensor& grad_of_bias,
    const Tensor& grad_out, const Tensor& input, const std::optional<Tensor>& weight,
    const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var,
    const std::optional<Tensor>& save_mean, const std::optional<Tensor>& save_invstd, bool training,
    double eps, std::array<bool, 3> wanted);
[[nodiscard]] Tensor group_norm_tangent(const Tensor& input_t, const Tensor& input,
                                        const Tensor& weight_t, const Tensor& weight,
                                        const Tensor& bias_t, const Tensor& mean,
                                        const Tensor& rstd, int64_t group);
// The tangents of the statistics.
[[nodiscard]] Tensor group_mean_tangent(const Tensor& input_t, const Tensor& input,
                                        const Tensor& mean, const Tensor& rstd, int64_t group);
[[nodiscard]] Tensor group_rstd_tangent(const Tensor& input_t, const Tensor& input,
                                        const Tensor& mean, const Tensor& rstd, int64_t group);
// The gradients of native_group_norm for input, weight and bias, from those of its results, of
// which any may be undefined.
[[nodiscard]] std::tuple<Tensor, Tensor, Tensor> group_norm_gradient(
    const Tensor& grad, const Tensor& grad_of_mean, const Tensor& grad_of_rstd, const Tensor& input,
    const Tensor& mean, const Tensor& rstd, const std::optional<Tensor>& weight, int64_t N,
    int64_t C, int64_t HxW, int64_t group, std::array<bool, 3> wanted);
// The gradients of native_group_norm_backward for grad_out, input and weight.
[[nodiscard]] std::tuple<Tensor, Tensor, Tensor> group_norm_double(
    const Tensor& grad_of_input, const Tensor& grad_of_weight, const Tensor& grad_of_bias,
    const Tensor& grad_out, const Tensor& input, const Tensor& mean, const Tensor& rstd,
    const std::optional<Tensor>& weight, int64_t N, int64_t C, int64_t HxW, int64_t group,
    std::array<bool, 3> wanted);

}  // namespace at::derivatives
