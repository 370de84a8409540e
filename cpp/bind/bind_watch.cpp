#include "arrays.hpp"
#include "microagg/watch.hpp"

void microagg::bind::register_watch(nb::module_& m) {
  nb::class_<Watch>(m, "Watch", "What a kernel and its caller tell each other while it runs.")
      .def(nb::init<>())
      .def(nb::init<Watch&, double>(), nb::arg("run"), nb::arg("seconds"), nb::keep_alive<1, 2>())
      .def("cancel", &Watch::cancel)
      .def("set_deadline", &Watch::set_deadline, nb::arg("seconds"))
      .def("simulate_clock", &Watch::simulate_clock, nb::arg("seconds_a_look"))
      .def("restart", [](Watch& watch) { watch.report_done(0.0); })
      .def("expect_work", &Watch::expect_work, nb::arg("work"))
      .def("report_best", &Watch::report_best, nb::arg("sse"))
      .def_prop_ro("cancelled", &Watch::cancelled)
      .def_prop_ro("expired", &Watch::expired)
      .def_prop_ro("seconds_left", &Watch::seconds_left)
      .def_prop_ro("seconds", &Watch::seconds)
      .def_prop_ro("done", &Watch::done)
      .def_prop_ro("best", &Watch::best);
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
