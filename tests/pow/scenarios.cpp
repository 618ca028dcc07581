// SPDX-License-Identifier: BSD-3-Clause
#include <stdexcept>

#include "damaged_copy.hpp"
#include "scenario_kinds.hpp"

namespace scute::testing {
namespace {

std::string all_of(pow_subject& s) {
  return s.cells().all();
}

// One thread, one section after the other: objects made, changed, erased, several at once.
pow_scenario sections(const named_kind& k) {
  auto s = with("sections", k);
  s.observe(all_of);
  s.setup([](pow_subject& p) { p.put(1, "one"); });
  s.step("make two", [](pow_subject& p) {
    p.section(strict, [&](pow::section& x) {
      p.cells().put(x, 2, "two");
      p.cells().put(x, 3, std::string(90, 'x'));
    });
  });
  s.step("change one", [](pow_subject& p) { p.put(1, "one, changed"); });
  s.step("abort", [](pow_subject& p) {
    pow::section x(p.store().parts(), strict);
    p.cells().put(x, 1, "nothing");
    p.cells().put(x, 7, "nothing");
    p.cells().erase(x, 2);
    x.abort();
  });
  s.step("erase", [](pow_subject& p) { p.erase(2); });
  s.step("change, erase and make", [](pow_subject& p) {
    p.section(strict, [&](pow::section& x) {
      p.cells().erase(x, 3);
      p.cells().put(x, 1, "again");
      p.cells().put(x, 4, "four");
    });
  });
  return s;
}

// Closed, killed and opened again between sections.
pow_scenario reopened(const named_kind& k) {
  auto s = with("reopened", k);
  s.observe(all_of);
  s.setup([](pow_subject& p) { p.put(1, "one"); });
  const auto again = [&](bool properly) {
    s.step_on_stage(properly ? "close and open" : "die and open",
                    [=](const stage_of<pow_subject>& on) {
                      properly ? on.close() : on.abandon();
                      on.open();
                    });
  };
  s.step("make", [](pow_subject& p) { p.put(2, "two"); });
  again(true);
  s.step("change", [](pow_subject& p) { p.put(1, "one, changed"); });
  again(false);
  s.step("change again", [](pow_subject& p) { p.put(1, "one more"); });
  s.step("erase", [](pow_subject& p) { p.erase(2); });
  again(false);
  s.step("make another", [](pow_subject& p) { p.put(3, "three"); });
  return s;
}

pow_scenario created(const named_kind& k) {
  auto s = with("created", k);
  s.without_subject().observe(all_of);
  s.step_on_stage("create", [](const stage_of<pow_subject>& on) { on.create(); });
  s.step("make", [](pow_subject& p) { p.put(1, "one"); });
  s.step_on_stage("close and open", [](const stage_of<pow_subject>& on) {
    on.close();
    on.open();
  });
  s.step("change", [](pow_subject& p) { p.put(1, "changed"); });
  return s;
}

// Segments fill up, and the cleaner takes them, tombstones and all.
pow_scenario cleaned(const named_kind& k) {
  auto s = with("cleaned", k);
  const uint64_t wide = k.kind.protect == pow::protection::always ? 6000 : 700;
  s.observe(all_of);
  s.setup([=](pow_subject& p) {
    for (uint64_t i = 1; i < 5; ++i) p.put(i, std::string(wide, static_cast<char>('a' + i)));
    for (uint64_t i = 1; i < 4; ++i) p.put(i, std::string(wide, static_cast<char>('A' + i)));
  });
  const auto clean = [&] { s.step("clean", [](pow_subject& p) { p.store().clean(1); }); };
  s.step("erase", [](pow_subject& p) { p.erase(2); });
  s.step("change", [=](pow_subject& p) { p.put(3, std::string(wide, 'c')); });
  s.step("change", [=](pow_subject& p) { p.put(4, std::string(wide, 'd')); });
  clean();
  s.step("change", [=](pow_subject& p) { p.put(3, std::string(wide, 'e')); });
  clean();
  clean();
  s.step("make what was erased", [](pow_subject& p) { p.put(2, "again"); });
  s.step("erase it", [](pow_subject& p) { p.erase(2); });
  for (char c = 'f'; c < 'l'; ++c)
    s.step("change", [=](pow_subject& p) { p.put(3, std::string(wide, c)); });
  clean();
  clean();
  clean();
  return s;
}

// An erased object is made again when its tombstone has gone, and the segment where that lay is
// in use again (POW-16).
pow_scenario buried(const named_kind& k) {
  auto s = with("buried", k);
  const uint64_t wide = k.kind.protect == pow::protection::always ? 9000 : 1300;
  s.observe(all_of);
  s.setup([](pow_subject& p) {
    for (uint64_t i = 1; i < 5; ++i) p.put(i, "short");
    for (uint64_t i = 1; i < 5; ++i) p.erase(i);
  });
  for (char c = 'a'; c < 'd'; ++c) {
    for (uint64_t i = 7; i < 11; ++i)
      s.step("make", [=](pow_subject& p) { p.put(i, std::string(wide, c)); });
    s.step("clean", [](pow_subject& p) { p.store().clean(1); });
    for (uint64_t i = 1; i < 3; ++i) {
      s.step("make again", [=](pow_subject& p) { p.put(i, "again"); });
      s.step("erase again", [=](pow_subject& p) { p.erase(i); });
    }
    s.step("count again", [](pow_subject& p) {
      for (const auto& d : p.store().check(false, false).damage) throw std::logic_error(d.text);
    });
  }
  return s;
}

// Without a call of the cleaner: a thread that needs room cleans.
pow_scenario crowded(const named_kind& k) {
  auto s = with("crowded", k);
  const uint64_t wide = k.kind.protect == pow::protection::always ? 9000 : 1100;
  s.observe(all_of).may_run_full();
  s.setup([=](pow_subject& p) {
    for (uint64_t i = 0; i < 12; ++i) p.put(i % 3, std::string(wide, static_cast<char>('a' + i)));
  });
  for (uint64_t i = 0; i < 5; ++i)
    s.step("change",
           [=](pow_subject& p) { p.put(i % 3, std::string(wide, static_cast<char>('A' + i))); });
  s.step("erase", [](pow_subject& p) { p.erase(1); });
  return s;
}

// Sections that are written while they run, and sections that need several segments.
pow_scenario parts(const named_kind& k) {
  named_kind roomy = k;  // several segments' worth of objects, and what is kept back
  roomy.kind.segments = roomy.kind.most = 12;
  auto s = with("parts", roomy);
  const uint64_t wide = k.kind.protect == pow::protection::always ? 9000 : 1500;
  s.observe(all_of);
  s.setup([](pow_subject& p) {
    p.put(1, "one");
    p.put(2, "two");
  });
  s.step("eager", [](pow_subject& p) {
    p.section(strict, [&](pow::section& x) {
      p.cells().put(x, 1, "eager");
      x.stream();
      p.cells().put(x, 2, "eager, too");
      x.stream();
      p.cells().put(x, 1, "eager, again");
    });
  });
  s.step("eager, aborted", [](pow_subject& p) {
    pow::section x(p.store().parts(), strict);
    p.cells().put(x, 1, "never");
    x.stream();
    p.cells().put(x, 2, "never");
    x.stream();
  });
  s.step("change", [](pow_subject& p) { p.put(1, "after it"); });
  s.step("several segments", [=](pow_subject& p) {
    p.section(strict, [&](pow::section& x) {
      for (uint64_t i = 1; i < 6; ++i)
        p.cells().put(x, i, std::string(wide, static_cast<char>('a' + i)));
    });
  });
  s.step("make", [](pow_subject& p) { p.put(9, "nine"); });
  for (int i = 0; i < 3; ++i)
    s.step("change", [=](pow_subject& p) {
      p.section(strict, [&](pow::section& x) {
        p.cells().put(x, 1, std::string(wide, static_cast<char>('P' + i)));
        p.cells().put(x, 2, "small");
      });
    });
  for (int i = 0; i < 3; ++i) s.step("clean", [](pow_subject& p) { p.store().clean(1); });
  return s;
}

pow_scenario growing(const named_kind& k) {
  named_kind small = k;
  small.kind.segments = 4;
  small.kind.most = 9;
  auto s = with("growing", small);
  const uint64_t wide = k.kind.protect == pow::protection::always ? 20000 : 3000;
  s.observe(all_of);
  s.setup([](pow_subject& p) { p.put(0, "nought"); });
  for (uint64_t i = 1; i < 4; ++i)
    s.step("make",
           [=](pow_subject& p) { p.put(i, std::string(wide, static_cast<char>('a' + i))); });
  s.step_on_stage("close and open", [](const stage_of<pow_subject>& on) {
    on.close();
    on.open();
  });
  s.step("make", [=](pow_subject& p) { p.put(5, std::string(wide, 'z')); });
  return s;
}

// The end of the file is given back, and comes again.
pow_scenario compacted(const named_kind& k) {
  named_kind small = k;
  small.kind.segments = 5;
  small.kind.most = 16;
  auto s = with("compacted", small);
  const uint64_t wide = k.kind.protect == pow::protection::always ? 9000 : 1300;
  s.observe(all_of);
  s.setup([=](pow_subject& p) {
    for (uint64_t i = 0; i < 8; ++i) p.put(i, std::string(wide, static_cast<char>('a' + i)));
    for (uint64_t i = 1; i < 7; ++i) p.erase(i);
  });
  const auto compact = [&] { s.step("compact", [](pow_subject& p) { p.store().compact({}); }); };
  compact();
  s.step("change", [=](pow_subject& p) { p.put(0, std::string(wide, 'A')); });
  for (uint64_t i = 1; i < 5; ++i)
    s.step("make",
           [=](pow_subject& p) { p.put(i, std::string(wide, static_cast<char>('A' + i))); });
  s.step("erase", [](pow_subject& p) { p.erase(2); });
  compact();
  s.step_on_stage("close and open", [](const stage_of<pow_subject>& on) {
    on.close();
    on.open();
  });
  s.step("make", [=](pow_subject& p) { p.put(2, "two"); });
  return s;
}

// A section streams some of its data and is aborted, and the cleaner takes the segment that says
// so. Later commits count all the same (POW-13).
pow_scenario abandoned_cleaned(const named_kind& k) {
  auto s = with("abandoned-cleaned", k);
  s.setup([](pow_subject& p) {
    p.put(1, "one");
    p.put(2, "two");
  });
  s.observe(all_of);
  for (int i = 0; i < 2; ++i) {
    s.step("aborted", [](pow_subject& p) {
      pow::section x(p.store().parts(), strict);
      p.cells().put(x, 5, "never");
      x.stream();
    });
    s.step("compact", [](pow_subject& p) { p.store().compact({}); });
    s.step("strict", [=](pow_subject& p) { p.put(2, "changed " + std::to_string(i)); });
  }
  return s;
}

// A file that has lost a frame is refused, also if it is the last one of a segment (POW-12). The
// cleaner keeps a segment that it cannot read (POW-4). This is tried on copies, since the
// scenario continues.
pow_scenario ended(const named_kind& k) {
  auto s = with("ended", k);
  s.observe(all_of);
  s.setup([](pow_subject& p) {
    for (uint64_t i = 0; i < 9; ++i) p.put(i % 3, std::string(700, static_cast<char>('a' + i)));
  });
  for (int i = 0; i < 2; ++i) {
    s.step("change",
           [=](pow_subject& p) { p.put(1, std::string(90, static_cast<char>('A' + i))); });
    s.step_on_stage("close, try damaged copies, and open", [](const stage_of<pow_subject>& on) {
      pow_subject& p = on.get();
      on.close();
      damaged_copy(p, on.bytes()).refuse_without_frames();
      damaged_copy(p, on.bytes()).keep_what_cannot_be_read();
      on.open();
    });
  }
  s.step_on_stage("die and open", [](const stage_of<pow_subject>& on) {
    on.abandon();
    on.open();
  });
  return s;
}

// Two threads under one lock change one object, and each one of its own; the cleaner in between.
pow_scenario shared(const named_kind& k) {
  auto s = with("shared", k);
  const auto sound = [](pow_subject& p) {
    // The common one counts the others together.
    return p.number(1) + p.number(2) == p.number(0) ? "" : "torn: " + p.cells().all();
  };
  s.setup([](pow_subject& p) {
    p.section(strict, [&](pow::section& x) {
      for (uint64_t i = 0; i < 3; ++i) p.put_number(x, i, 0);
    });
  });
  for (uint64_t t = 0; t < 2; ++t) {
    s.in_thread(t).observe(
        [=](pow_subject& p) { return std::to_string(p.number(1 + t)) + sound(p); });
    for (int i = 0; i < 4; ++i)
      s.in_thread(t).step("count", [=](pow_subject& p) {
        p.section(
            strict,
            [&](pow::section& x) {
              p.put_number(x, 0, p.number(0) + 1);
              p.put_number(x, 1 + t, p.number(1 + t) + 1);
            },
            p.a);
      });
    s.in_thread(t).step("clean", [](pow_subject& p) { p.store().clean(1); });
  }
  return s;
}

// One thread writes batches that fill segments, while another one cleans.
pow_scenario spanned(const named_kind& k) {
  named_kind roomy = k;
  roomy.kind.segments = roomy.kind.most = 14;
  auto s = with("spanned", roomy);
  const uint64_t wide = k.kind.protect == pow::protection::always ? 9000 : 1500;
  s.setup([](pow_subject& p) { p.put(1, "one"); });
  s.in_thread(0).observe(all_of);
  for (int i = 0; i < 2; ++i)
    s.in_thread(0).step("several segments", [=](pow_subject& p) {
      p.section(strict, [&](pow::section& x) {
        for (uint64_t n = 1; n < 6; ++n)
          p.cells().put(x, n, std::string(wide, static_cast<char>('a' + n + 10 * i)));
      });
    });
  s.in_thread(1).observe([](pow_subject&) { return std::string(); });
  for (int i = 0; i < 3; ++i)
    s.in_thread(1).step("clean", [](pow_subject& p) { p.store().clean(1); });
  return s;
}

}  // namespace

const std::vector<pow_entry>& pow_scenarios() {
  static const std::vector<pow_entry> all = [] {
    std::vector<pow_entry> to;
    for (const named_kind* k : {&none, &always, &stream})
      for (const auto make : {sections, reopened, created, cleaned, buried, crowded, parts, growing,
                              compacted, abandoned_cleaned, ended, shared, spanned})
        add(to, *k, make);
    for (const auto make : {sections, reopened, parts, shared, spanned})
      add(to, always_stream, make);
    for (const auto make : {sections, reopened, cleaned, buried, parts, growing, compacted})
      add(to, sealed, make);
    add_later_scenarios(to);
    add_sealed_scenarios(to);
    return to;
  }();
  return all;
}

}  // namespace scute::testing
