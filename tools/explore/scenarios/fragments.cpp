// SPDX-License-Identifier: BSD-3-Clause
// Every kind of operation on objects of several fragments: in
// a run, whose headers and payloads share a chunk, and in a span, whose payload lies rows away from
// its headers. The changes of the other scenarios to small objects are made here to parts of large
// ones, since a transaction may write a further fragment and leave the first header alone. (A ring
// through such a fragment was once lost when its object was freed next: no scenario had an object
// that is edited after its first fragment and then freed.)
#include "scenarios/catalogue.hpp"
#include "scenarios/directory.hpp"

namespace scute::explore {
namespace {

// Slots of a directory: two objects of two fragments, which share a chunk of 16 KiB; one of four,
// which is a span; and two small ones.
enum slot : uint64_t { run_a, run_b, span, small_a, small_b, fresh };
constexpr uint64_t fragment = 4096, run_size = fragment + 900, span_size = 3 * fragment + 900,
                   small_size = 450;
constexpr uint64_t size_of(uint64_t slot) {
  return slot == span ? span_size : run_size;
}
// Where the last fragment begins.
constexpr uint64_t last_of(uint64_t slot) {
  return size_of(slot) / fragment * fragment;
}

void make_objects(scute::pool& p, unsigned thread) {
  commit(p, thread, [&](change& c) {
    c.alloc(small_a, small_size, 10 * thread + 1);
    c.alloc(small_b, small_size, 10 * thread + 2);
  });
  commit(p, thread, [&](change& c) { c.alloc(run_a, run_size, 10 * thread + 3); });
  commit(p, thread, [&](change& c) { c.alloc(run_b, run_size, 10 * thread + 4); });
  commit(p, thread, [&](change& c) { c.alloc(span, span_size, 10 * thread + 5); });
}

testing::scenario start(const char* name, const level& l) {
  auto s = with_directories(std::string(name) + "/" + l.name, l.protection);
  s.may_run_full();
  s.setup([](scute::pool& p) {
    make_directories(p);
    make_objects(p, 0);
  });
  return s;
}

void step(testing::scenario& s, const std::string& what, std::function<void(change&)> body) {
  s.step(what, [body = std::move(body)](scute::pool& p) { commit(p, 0, body); });
}

// A further fragment and a small object in one transaction; then its object goes, whose first
// header is all that the second one writes of it.
void edit_then_free(testing::scenario& s) {
  for (unsigned k = 0; k < 3; ++k) {
    const uint64_t of = k == 2 ? uint64_t{span} : k;
    const std::string name = k == 2 ? "the span" : "run object " + std::to_string(k);
    step(s, "a further fragment of " + name + ", and a small object", [=](change& c) {
      c.edit(of, last_of(of) + 40, 64, 20 + k);
      c.overwrite(small_a, 30 + k);
    });
    step(s, "free " + name, [=](change& c) { c.free(of); });
    step(s, "the small objects", [k](change& c) {
      c.overwrite(small_b, 40 + k);
      if (k == 1) c.edit(small_a, 8, 8, 45);
    });
    step(s, "another one in its place", [=](change& c) { c.alloc(of, size_of(of), 50 + k); });
  }
}

testing::scenario one_lane(const level& l) {
  auto s = start("fragments", l);
  edit_then_free(s);
  return s;
}

testing::scenario lanes(const level& l) {
  auto s = start("fragments-lanes", l);
  s.lanes_in_turn();
  edit_then_free(s);
  return s;
}

// Fragments of one object in transactions of their own, next to each other and far apart.
testing::scenario parts(const level& l) {
  auto s = start("fragments-parts", l);
  for (unsigned k = 0; k < 2; ++k) {
    for (const uint64_t of : {run_a, span}) {
      step(s, "the second fragment", [=](change& c) { c.edit(of, fragment + 9, 30, 10 + k); });
      step(s, "the first one", [=](change& c) { c.edit(of, 9, 30, 20 + k); });
      step(s, "the last one, and a small object", [=](change& c) {
        c.edit(of, last_of(of) + 100, 500, 30 + k);
        c.overwrite(small_a, 40 + k);
      });
      step(s, "across two, and a fragment of another object", [=](change& c) {
        c.edit(of, fragment - 20, 40, 50 + k);
        c.edit(run_b, fragment + 70 * k, 60, 60 + k);
      });
    }
    s.step("parts, aborted", [k](scute::pool& p) {
      change c(p, 0);
      c.edit(run_a, fragment, 80, 70 + k);
      c.edit_in_place(span, fragment + 700, 200, 71 + k);
      c.free(run_b);
      c.abort();
    });
    step(s, "the whole of one", [k](change& c) { c.overwrite(run_a, 80 + k); });
  }
  return s;
}

testing::scenario in_place(const level& l) {
  auto s = start("fragments-in-place", l);
  for (unsigned k = 0; k < 2; ++k) {
    const uint64_t of = k == 0 ? run_a : span;
    step(s, "in place in a further fragment",
         [=](change& c) { c.edit_in_place(of, fragment + 100, 300, 10 + k); });
    step(s, "in place in two fragments, and a small object", [=](change& c) {
      c.edit_in_place(of, last_of(of) - 30, 60, 20 + k);
      c.overwrite(small_b, 21 + k);
    });
    step(s, "another fragment next to it", [=](change& c) {
      c.edit_in_place(of, last_of(of) + 600, 64, 30 + k);
      c.edit(of, 20, 64, 31 + k);
    });
    step(s, "free it, and change a small object", [=](change& c) {
      c.free(of);
      c.overwrite(small_a, 40 + k);
    });
    step(s, "small ones in its place", [=](change& c) {
      c.alloc(fresh, 300 + k, 50 + k);
      c.alloc(of, 900, 51 + k);
    });
    step(s, "free them", [=](change& c) {
      c.free(fresh);
      c.free(of);
    });
  }
  return s;
}

// One thread edits further fragments; the other frees, allocates and edits neighbours.
testing::scenario threads(const level& l) {
  auto s = with_directories(std::string("fragments-threads/") + l.name, l.protection, 2);
  s.may_run_full();
  s.setup([](scute::pool& p) {
    make_directories(p);
    for (unsigned t = 0; t < 2; ++t) {
      commit(p, t, [&](change& c) {
        c.alloc(small_a, small_size, 10 * t + 1);
        c.alloc(run_a, run_size, 10 * t + 2);
      });
      commit(p, t, [&](change& c) { c.alloc(run_b, run_size, 10 * t + 3); });
    }
  });
  for (unsigned t = 0; t < 2; ++t) {
    s.in_thread(t).step("a further fragment, and a small object", [t](scute::pool& p) {
      commit(p, t, [&](change& c) {
        c.edit(run_a, fragment + 40, 64, 20 + t);
        c.overwrite(small_a, 30 + t);
      });
    });
    s.in_thread(t).step("free it",
                        [t](scute::pool& p) { commit(p, t, [](change& c) { c.free(run_a); }); });
    s.in_thread(t).step("another object in place", [t](scute::pool& p) {
      commit(p, t, [&](change& c) { c.edit_in_place(run_b, fragment, 100, 40 + t); });
    });
    s.in_thread(t).step("a small one where there is room", [t](scute::pool& p) {
      commit(p, t, [&](change& c) { c.alloc(fresh, t == 0 ? run_size : 300, 50 + t); });
    });
  }
  return s;
}

}  // namespace

void add_fragment_scenarios(std::vector<entry>& to) {
  add_at_all_levels(
      {{"fragments", "a further fragment is written, then its object is freed", one_lane},
       {"fragments-lanes", "the same, by lanes in turn", lanes},
       {"fragments-parts", "fragments of one object, one after the other", parts},
       {"fragments-in-place", "further fragments in place", in_place},
       {"fragments-threads", "two threads on objects of several fragments", threads}},
      to);
}

}  // namespace scute::explore
