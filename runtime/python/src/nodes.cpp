// nodes.cpp: class Node, a recorded operator of a graph (tensor.grad_fn).
#include <new>
#include <string>
#include <unordered_map>

#include "objects.h"

namespace opgen::python {

namespace {

using autograd::Edge;
using autograd::Node;
using autograd::NodeRef;

struct NodeObject {
  PyObject_HEAD NodeRef node;
  PyObject* metadata;
};
NodeObject* of(PyObject* self) {
  return reinterpret_cast<NodeObject*>(self);
}

PyTypeObject* node_type;
// Maps each live node to its Python object, which is borrowed. The GIL protects the map.
std::unordered_map<const Node*, PyObject*>& objects() {
  static auto* all = new std::unordered_map<const Node*, PyObject*>;
  return *all;
}

void free_node(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  objects().erase(of(self)->node.get());
  Py_CLEAR(of(self)->metadata);
  of(self)->node.~NodeRef();  // may free a whole graph
  type->tp_free(self);
  Py_DECREF(type);
}
int visit_node(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(of(self)->metadata);
  return 0;
}
int clear_node(PyObject* self) {
  Py_CLEAR(of(self)->metadata);
  return 0;
}

PyObject* name_of(PyObject* self, PyObject*) {
  return guarded([&] { return PyUnicode_FromString(of(self)->node->name().c_str()); });
}
PyObject* show_node(PyObject* self) {
  return guarded([&] {
    return PyUnicode_FromFormat("<%s object at %p>", of(self)->node->name().c_str(),
                                static_cast<void*>(of(self)->node.get()));
  });
}
PyObject* sequence_nr(PyObject* self, PyObject*) {
  return PyLong_FromUnsignedLongLong(of(self)->node->sequence_nr());
}

PyObject* next_functions(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    const auto& edges = of(self)->node->next_edges();
    Owned tuple(PyTuple_New(static_cast<Py_ssize_t>(edges.size())));
    for (std::size_t i = 0; tuple && i < edges.size(); ++i) {
      Owned node(new_node(edges[i].function));
      PyObject* pair = node ? Py_BuildValue("(OI)", node.get(), edges[i].input_nr) : nullptr;
      if (pair == nullptr) return nullptr;
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), pair);
    }
    return tuple.release();
  });
}
PyObject* metadata(PyObject* self, void*) {
  if (of(self)->metadata == nullptr) of(self)->metadata = PyDict_New();
  return Py_XNewRef(of(self)->metadata);
}
// The shape, dtype and device of each output's gradient.
PyObject* input_metadata(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    Owned list(PyList_New(0));
    for (const Node::Output& output : of(self)->node->outputs()) {
      Owned shape(tuple_of(output.sizes));
      Owned device(new_device(output.device));
      Owned one(shape && device
                    ? PyTuple_Pack(3, shape.get(), dtype_object(output.dtype), device.get())
                    : nullptr);
      if (!list || !one || PyList_Append(list.get(), one.get()) != 0) return nullptr;
    }
    return list.release();
  });
}

PyObject* register_after(PyObject* self, PyObject* hook) {
  return register_node_hook(*of(self)->node, hook);
}
PyObject* register_before(PyObject* self, PyObject* hook) {
  return register_node_prehook(*of(self)->node, hook);
}

PyGetSetDef node_attributes[] = {
    {"next_functions", next_functions, nullptr,
     "For each input, a pair: the Node that receives its gradient (or None), and the index of that "
     "Node's output.",
     nullptr},
    {"metadata", metadata, nullptr, "A dict for your own data. It lives as long as this object.",
     nullptr},
    {"_input_metadata", input_metadata, nullptr,
     "The shape, dtype and device of each gradient that the node receives.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef node_methods[] = {
    {"name", name_of, METH_NOARGS, "Returns the name, such as MulBackward0."},
    {"register_hook", register_after, METH_O,
     "Calls hook(grad_inputs, grad_outputs) after the node has run; if it returns a tuple, that "
     "replaces grad_inputs. Returns a handle with remove()."},
    {"register_prehook", register_before, METH_O,
     "Calls hook(grad_outputs) before the node runs; if it returns a tuple, that replaces them. "
     "Returns a handle with remove()."},
    {"_sequence_nr", sequence_nr, METH_NOARGS,
     "Returns the node's number. Later nodes have higher numbers and run first."},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot node_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(&free_node)},
    {Py_tp_traverse, reinterpret_cast<void*>(&visit_node)},
    {Py_tp_clear, reinterpret_cast<void*>(&clear_node)},
    {Py_tp_repr, reinterpret_cast<void*>(&show_node)},
    {Py_tp_getset, node_attributes},
    {Py_tp_methods, node_methods},
    {Py_tp_doc, const_cast<char*>("A recorded operator: it computes the gradients of its inputs "
                                  "from those of its outputs.")},
    {0, nullptr}};
PyType_Spec node_spec = {
    "opgen.Node", sizeof(NodeObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, node_slots};

}  // namespace

int make_node_type() {
  node_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&node_spec));
  types.node = node_type;
  return node_type == nullptr ? -1 : 0;
}

PyObject* new_node(NodeRef node) {
  if (node.get() == nullptr) Py_RETURN_NONE;
  const auto found = objects().find(node.get());
  if (found != objects().end()) return Py_NewRef(found->second);
  PyObject* self = node_type->tp_alloc(node_type, 0);
  if (self == nullptr) return nullptr;
  // The other members are zero, set by tp_alloc.
  objects()[node.get()] = self;
  new (&of(self)->node) NodeRef(std::move(node));
  return self;
}

}  // namespace opgen::python
