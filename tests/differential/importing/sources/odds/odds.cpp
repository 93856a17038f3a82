// odds.cpp: every odd way to register that compiles.
#include "schemas.h"

#include <ATen/ATen.h>
#include <torch/types.h>

#include <stdexcept>

namespace k = odds::kernels;
using odds::kernels::same;

namespace odds {
namespace kernels {

at::Tensor same(const at::Tensor& x) { return x; }
at::Tensor first(const at::Tensor& x, const at::Tensor& y) { return x; }
at::Tensor second(const at::Tensor& x, const at::Tensor& y) { return y; }

template <typename Number>
at::Tensor times(const at::Tensor& x, const at::Tensor& y) {
  return x * y;
}
template at::Tensor times<float>(const at::Tensor& x, const at::Tensor& y);
template at::Tensor times<double>(const at::Tensor& x, const at::Tensor& y);

}  // namespace kernels

namespace {

static constexpr char kConstant[] = "constant(Tensor x, str mode='it is') -> Tensor";
constexpr auto kPair = "pair(Tensor x) "
                       /* two of them */ "-> (Tensor, Tensor)";
const std::string kHead = "summed(Tensor x, ";
const std::vector<at::Tag> kTags = {at::Tag::pt2_compliant_tag, at::Tag::pointwise};
constexpr c10::DispatchKey kOurKey = c10::DispatchKey::PrivateUse1;

at::Tensor hidden_away(const at::Tensor& x) { return x; }
static at::Tensor known_here(const at::Tensor& x) { return x; }
std::tuple<at::Tensor, at::Tensor> twice(const at::Tensor& x) { return {x, x}; }
void two_kinds(at::Tensor& x) {}
void two_kinds(at::Tensor& x, int64_t n) {}
void boxed(const c10::OperatorHandle& op, torch::jit::Stack* stack) {}

struct Times {
  static at::Tensor call(const at::Tensor& x, const at::Tensor& y) { return x; }
};

}  // namespace

struct Drawer : torch::CustomClassHolder {
  int64_t size = 0;
};

at::Tensor from_drawer(const c10::intrusive_ptr<Drawer>& drawer) { throw std::runtime_error("not written"); }

void register_more(torch::Library& library) {
  library.def("from_helper(Tensor x) -> Tensor");
  library.impl("from_helper", c10::kXPU, &kernels::same);
}

TORCH_LIBRARY(odds, the_library) {
  the_library.set_python_module("odds.fakes", "//odds:fakes");
  the_library.class_<Drawer>("Drawer").def(torch::init<>()).def("size", [](const c10::intrusive_ptr<Drawer>& self) {
    return self->size;
  });

  // Texts that are not one literal.
  the_library.def(kConstant);
  the_library.def(kPair);
  the_library.def(TORCH_SELECTIVE_SCHEMA("odds::tagged(Tensor x) -> Tensor"), kTags);
  the_library.def(kShared, {at::Tag::core});
  the_library.def((kHead + "Tensor y) -> Tensor").c_str());
  the_library.def("from_macro" ODDS_PAIR " -> Tensor");
  the_library.def(
      "adjacent(Tensor x"  // the first
      ",\tint n = 3,"
      " float f=1e-5"
      ") -> (Tensor"
      ")");
  the_library.def(R"schema(
      odds::raw.overload(
          Tensor self,              # what is read
          Tensor(a!)? other=None,   # what is written
          *,
          str text="a, b; c) -> d",
          int[2] pads=[0, 1],
          bool[3] mask = [True,False, True]
      ) -> (Tensor first,
            Tensor second)
      )schema");
  the_library.def("escaped(str a=\"\\n\", str b='\"') -> ()");
  the_library.def("spaced ( Tensor ! x , Tensor [] y , int ? z = None )->( )");
  the_library.def(torch::schema("analysed(Tensor x) -> Tensor", c10::AliasAnalysisKind::PURE_FUNCTION));
  the_library.def(torch::schema("plain_schema(Tensor x, Tensor y) -> Tensor"), &k::first);
  the_library.def(
      TORCH_SELECTIVE_SCHEMA("odds::selected(Tensor x) -> Tensor"), {at::Tag::core, at::Tag::pointwise});
  the_library.def("wild(Tensor(a|b) x, Tensor(c -> *) y) -> Tensor(a|b)");

  // Kernels that are not &f.
  the_library.set_python_module("odds.more_fakes");
  the_library.def("chained(Tensor x) -> Tensor")
      .def("chained.two(Tensor x, Tensor y) -> Tensor")
      .impl("chained", c10::DispatchKey::CPU, TORCH_FN(hidden_away))
      .impl("chained.two", torch::dispatch(c10::DispatchKey::CUDA, &::odds::kernels::second));
  the_library.def("with_lambda(Tensor x) -> Tensor", [](const at::Tensor& x) { return x; });
  the_library.def("with_kernel(Tensor x) -> Tensor", kTags[0] == at::Tag::core ? &known_here : &hidden_away);
  the_library.def("with_tags(Tensor x) -> Tensor", &known_here, {at::Tag::pt2_compliant_tag});
  the_library.def("two_kinds(Tensor! x, int n) -> ()");
  the_library.impl("two_kinds", torch::kCPU, static_cast<void (*)(at::Tensor&, int64_t)>(&two_kinds));
  the_library.impl("two_kinds", torch::kMeta, (void (*)(at::Tensor&, int64_t)) & two_kinds);
  the_library.impl("two_kinds", torch::kHPU, torch::CppFunction::makeFromBoxedFunction<&boxed>());
  the_library.impl("two_kinds", c10::DispatchKey::AutocastCUDA, torch::CppFunction::makeFallthrough());
  the_library.def("times(Tensor x, Tensor y) -> Tensor");
  the_library.impl("times", torch::kCPU, &kernels::times<float>);
  the_library.impl("times", torch::kCUDA, kernels::times<double>);
  the_library.impl("times", kOurKey, torch::CppFunction(&Times::call).debug("times"));
  the_library.impl("times", torch::kXPU, torch::CppFunction::makeFromUnboxedFunction(&k::first));
  the_library.impl("times", torch::kMPS, ODDS_FN(second));
  auto local = [](const at::Tensor& x, const at::Tensor& y) { return y; };
  the_library.impl("times", torch::kMTIA, local);

  // Hidden from readers: each is reported.
  ODDS_DEFINE(the_library, by_macro);
  for (const char* name : {"looped(Tensor x) -> Tensor"}) {
    the_library.def(name);
  }

  // Branches.
#if defined(ODDS_WIDE) && !defined(ODDS_NARROW)
  the_library.def("branched(Tensor x, int width) -> Tensor");
#elif defined(ODDS_NARROW)
  the_library.def("branched(Tensor x, float width) -> Tensor");
#else
  the_library.def("branched(Tensor x) -> Tensor");
#ifdef ODDS_NEVER
  the_library.def("only_never(Tensor x) -> Tensor");
#endif  // ODDS_NEVER
#endif
  the_library.def(
      "split_by_branch(Tensor x"
#ifdef ODDS_WIDE
      ", int width"
#endif
      ") -> Tensor");
#if 0
  the_library.def("dead(Tensor x) -> Tensor");
  an apostrophe's no quote here, and " neither
#endif
  if (at::hasCUDA() || true) {
    the_library.def("in_a_block(Tensor x) -> Tensor");
  }
  register_more(the_library);
}

// A class of the library is an argument.
TORCH_LIBRARY_FRAGMENT(odds, m) {
  m.def("from_drawer(__torch__.torch.classes.odds.Drawer drawer) -> Tensor", &from_drawer);
  m.def("from_drawer_too", &from_drawer);
}

ODDS_LIBRARY(odds_more, fragment) {
  fragment.def("a" ODDS_PAIR "->Tensor");
  fragment.impl("a", &k::first);
  fragment.def("b(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(odds_more, ODDS_KEY, m) {
  m.impl("b", same);
  m.impl("odds_more::a", [](const at::Tensor& x, const at::Tensor& y) { return x; });
}

TORCH_LIBRARY_IMPL(odds_more, CompositeExplicitAutograd, m) { m.impl("b", TORCH_FN(known_here)); }
TORCH_LIBRARY_IMPL(odds_more, ADInplaceOrView, m) { m.impl("b", torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(odds_more, BackendSelect, m) { m.impl("b", &kernels::same); }
TORCH_LIBRARY_IMPL(odds_more, SparseCsrCPU, m) { m.impl("b", &kernels::same); }
TORCH_LIBRARY_IMPL(odds_more, NestedTensorCPU, m) { m.impl("b", &kernels::same); }
TORCH_LIBRARY_IMPL(odds_more, FuncTorchBatched, m) { m.impl("b", &kernels::same); }

// Nobody defines it.
TORCH_LIBRARY_IMPL(odds_elsewhere, CPU, m) { m.impl("f", &kernels::same); }
// A fallback, which is not one operator's.
TORCH_LIBRARY_IMPL(_, PrivateUse2, m) { m.fallback(torch::CppFunction::makeFallthrough()); }

// The way of older releases.
static auto registry = torch::RegisterOperators()
                           .op("odds_older::same", &kernels::same)
                           .op("odds_older::pick(Tensor x, Tensor y) -> Tensor", &kernels::first);

}  // namespace odds
