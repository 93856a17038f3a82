// generator.cpp: class Generator, a source of random numbers, and the seed of the default one.
#include <new>

#include "objects.h"
#include "opgen/cpu/cpu_generator.h"

namespace opgen::python {

namespace {

// The default seed, as in PyTorch.
constexpr std::uint64_t kDefaultSeed = 67280421310721;

Generator& generator_of(PyObject* self) {
  return reinterpret_cast<GeneratorObject*>(self)->generator;
}

// Calls work() with the lock of the generator. The caller makes Python objects after it.
template <class Work>
auto locked(PyObject* self, const Work& work) {
  const GeneratorLock lock(generator_of(self).unsafeGetGeneratorImpl());
  return work(generator_of(self));
}

PyObject* new_generator(Generator generator) {
  PyObject* self = types.generator->tp_alloc(types.generator, 0);
  if (self != nullptr) new (&generator_of(self)) Generator(std::move(generator));
  return self;
}

// Generator(device="cpu")
PyObject* make_generator(PyTypeObject*, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"device", nullptr};
  PyObject* device = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:Generator", const_cast<char**>(names),
                                   &device)) {
    return nullptr;
  }
  Owned text(device == Py_None ? PyUnicode_FromString("cpu") : PyObject_Str(device));
  const char* words = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  if (words == nullptr) return nullptr;
  return guarded([&] {
    const Device on{std::string_view(words)};
    OPGEN_CHECK_NOT_IMPLEMENTED(on.is_cpu(), "generators are not available on ", on);
    return new_generator(Generator(Ref<GeneratorImpl>::adopt(new CPUGeneratorImpl(kDefaultSeed))));
  });
}

void free_generator(PyObject* self) {
  generator_of(self).~Generator();
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

// Negative seeds count back from 2**64, as in PyTorch.
PyObject* set_seed(Generator generator, PyObject* seed) {
  Owned number(PyNumber_Index(seed));
  const unsigned long long value = number ? PyLong_AsUnsignedLongLongMask(number.get()) : 0;
  if (PyErr_Occurred() != nullptr) return nullptr;
  return guarded([&]() -> PyObject* {
    GeneratorLock lock(generator.unsafeGetGeneratorImpl());
    generator.set_current_seed(value);
    Py_RETURN_NONE;
  });
}
PyObject* manual_seed(PyObject* self, PyObject* seed) {
  Owned done(set_seed(generator_of(self), seed));
  if (!done) return nullptr;
  Py_INCREF(self);
  return self;
}
PyObject* initial_seed(PyObject* self, PyObject*) {
  const std::uint64_t seed = locked(self, [](Generator& one) { return one.current_seed(); });
  return PyLong_FromUnsignedLongLong(seed);
}
PyObject* fresh_seed(PyObject* self, PyObject*) {
  return guarded([&] {
    const std::uint64_t seed = locked(self, [](Generator& one) { return one.seed(); });
    return PyLong_FromUnsignedLongLong(seed);
  });
}
PyObject* get_state(PyObject* self, PyObject*) {
  GeneratorImpl* impl = generator_of(self).unsafeGetGeneratorImpl();
  PyObject* bytes = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(impl->state_size()));
  if (bytes == nullptr) return nullptr;
  GeneratorLock lock(impl);
  impl->get_state(PyBytes_AS_STRING(bytes));
  return bytes;
}
PyObject* set_state(PyObject* self, PyObject* state) {
  if (!PyBytes_Check(state)) {
    PyErr_SetString(PyExc_TypeError, "the state of a Generator must be bytes from get_state()");
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    GeneratorImpl* impl = generator_of(self).unsafeGetGeneratorImpl();
    GeneratorLock lock(impl);
    impl->set_state(PyBytes_AS_STRING(state), static_cast<std::size_t>(PyBytes_GET_SIZE(state)));
    Py_INCREF(self);
    return self;
  });
}
PyObject* cloned(PyObject* self, PyObject*) {
  return guarded(
      [&] { return new_generator(locked(self, [](Generator& one) { return one.clone(); })); });
}
PyObject* deep_copied(PyObject* self, PyObject*) {
  return cloned(self, nullptr);
}
PyObject* device(PyObject* self, void*) {
  return guarded([&] { return new_device(generator_of(self).device()); });
}
PyObject* seed_default(PyObject*, PyObject* seed) {
  return set_seed(opgen::default_cpu_generator(), seed);
}

PyGetSetDef generator_attributes[] = {
    {"device", device, nullptr, "The device for which it draws numbers.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef generator_methods[] = {
    {"manual_seed", manual_seed, METH_O, "Restarts from this seed. Returns the Generator."},
    {"initial_seed", initial_seed, METH_NOARGS, "Returns the seed of the last start."},
    {"seed", fresh_seed, METH_NOARGS,
     "Restarts from a random seed of the system, and returns the seed."},
    {"get_state", get_state, METH_NOARGS, "Returns the state as bytes."},
    {"set_state", set_state, METH_O, "Restores a state from get_state()."},
    {"clone_state", cloned, METH_NOARGS,
     "Returns another Generator that will draw the same numbers."},
    {"__deepcopy__", deep_copied, METH_O,
     "Returns another Generator that will draw the same numbers."},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot generator_slots[] = {{Py_tp_new, reinterpret_cast<void*>(&make_generator)},
                                 {Py_tp_dealloc, reinterpret_cast<void*>(&free_generator)},
                                 {Py_tp_getset, generator_attributes},
                                 {Py_tp_methods, generator_methods},
                                 {0, nullptr}};
PyType_Spec generator_spec = {"opgen.Generator", sizeof(GeneratorObject), 0, Py_TPFLAGS_DEFAULT,
                              generator_slots};

}  // namespace

PyTypeObject* make_generator_type() {
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&generator_spec));
}

PyMethodDef generator_functions[] = {
    {"manual_seed", seed_default, METH_O,
     "manual_seed(seed): restarts the default Generator from this seed. Returns the Generator."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace opgen::python
