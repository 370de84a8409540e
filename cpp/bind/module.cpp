// The module microagg._core: what several bind files need, then every bind file.
#include "bindings.hpp"
#include "microagg/objective.hpp"
#include "microagg/remaining.hpp"
#include "microagg/watch.hpp"

namespace microagg::bind {

void register_watch(nb::module_& m) {
  nb::class_<Watch>(m, "Watch", "What a kernel and its caller tell each other while it runs.")
      .def(nb::init<>(), "For a whole run.")
      .def(nb::init<Watch&, double>(), nb::arg("run"), nb::arg("seconds"), nb::keep_alive<1, 2>(),
           "For a part of a run, which ends as if cancelled after so many seconds.")
      .def("cancel", &Watch::cancel, "Asks all kernels of the run to stop.")
      .def("set_deadline", &Watch::set_deadline, nb::arg("seconds"),
           "Seconds from now after which refinements stop; infinity: never.")
      .def("simulate_clock", &Watch::simulate_clock, nb::arg("seconds_a_look"),
           "For tests: from now on so many seconds pass at each look of a kernel, and at no other "
           "time.")
      .def(
          "restart", [](Watch& watch) { watch.report_done(0.0); },
          "Nothing of the next kernel is done.")
      .def("expect_work", &Watch::expect_work, nb::arg("work"),
           "How much the next kernels do together, in steps; 0: each reports its own share.")
      .def("report_best", &Watch::report_best, nb::arg("sse"), "An SSE of the whole problem.")
      .def_prop_ro("cancelled", &Watch::cancelled, "Whether the run was cancelled.")
      .def_prop_ro("expired", &Watch::expired,
                   "Whether the run was cancelled or the deadline has passed.")
      .def_prop_ro("seconds_left", &Watch::seconds_left,
                   "Until the deadline; very many if there is none.")
      .def_prop_ro("seconds", &Watch::seconds, "By a clock that begins anywhere.")
      .def_prop_ro("done", &Watch::done, "The share that is done, from 0 to 1.")
      .def_prop_ro("best", &Watch::best, "The lowest SSE reported; infinity before the first.");
  // What kernels throw, under the same names in Python.
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    const auto raise = [](const char* name, const char* message) {
      nb::object type = nb::module_::import_("microagg.errors").attr(name);
      PyErr_SetString(type.ptr(), message);
    };
    try {
      std::rethrow_exception(error);
    } catch (const Cancelled&) {
      raise("Cancelled", "The run was cancelled.");
    } catch (const DeadlinePassed&) {
      raise("DeadlinePassed", "The deadline passed.");
    }
  });
}

void register_choices(nb::module_& m) {
  nb::enum_<Deadline>(m, "Deadline", "Whether a kernel ends at the deadline.")
      .value("IGNORE", Deadline::IGNORE)
      .value("HEED", Deadline::HEED);
  nb::enum_<Numbering>(m, "Numbering", "How groups are numbered in a result.")
      .value("APPEARANCE", Numbering::APPEARANCE, "By the first record of each.")
      .value("KEPT", Numbering::KEPT, "As the kernel formed them or was given them.");
  nb::enum_<Engine>(m, "Engine", "How near and far records are looked for; results do not differ.")
      .value("AUTO", Engine::AUTO, "What is faster.")
      .value("BRUTE", Engine::BRUTE, "All of them are looked at.")
      .value("TREE", Engine::TREE, "A tree of boxes is kept.");
}

}  // namespace microagg::bind

NB_MODULE(_core, m) {
  using namespace microagg::bind;
  // An interrupted run may leave objects to threads that end with the process, which is no leak.
  nb::set_leak_warnings(false);
  m.doc() = "Native kernels of microagg; see cpp/include/microagg for each.";
  register_watch(m);
  register_choices(m);
  for (const auto& [name, bind] : Bindings::all()) bind(m);
}
