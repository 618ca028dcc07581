// SPDX-License-Identifier: BSD-3-Clause
#include "scenario_kinds.hpp"

namespace scute::testing {
namespace {

// The later sections must leave whole objects: cell 1 follows cell 0, and cell 2 follows cell 1,
// whichever thread copied it.
std::string follows(pow_subject& p) {
  const bool right = p.number(0) >= p.number(1) && p.number(1) >= p.number(2) &&
                     p.number(0) >= p.witnessed(0) && p.number(1) >= p.witnessed(1) &&
                     p.number(2) >= p.witnessed(2);
  return right ? "whole"
               : "torn: " + p.cells().all() + "but " + std::to_string(p.witnessed(0)) + " " +
                     std::to_string(p.witnessed(1)) + " " + std::to_string(p.witnessed(2));
}
void start_from_nothing(pow_subject& p) {
  p.section(strict, [&](pow::section& x) {
    for (uint64_t i = 0; i < 3; ++i) p.put_number(x, i, 0);
  });
}
void count_later(pow_subject& p) {
  p.section(later, [&](pow::section& x) { p.put_number(x, 0, p.number(0) + 1); }, p.a);
}
// From one cell to the next, under the locks of both.
void copy_later(pow_subject& p, uint64_t to) {
  p.section(later, [&](pow::section& x) { p.put_number(x, to, p.number(to - 1)); }, p.a, p.b);
}
// Reports the durable values to a witness that remembers them.
void sync_and_report(pow_subject& p) {
  uint64_t before[3];
  p.section(
      later,
      [&](pow::section&) {
        for (uint64_t i = 0; i < 3; ++i) before[i] = p.number(i);
      },
      p.a, p.b);
  p.store().sync();
  for (uint64_t i = 0; i < 3; ++i)
    if (before[i] > p.witnessed(i)) p.witness(i, before[i]);
}

// Copies cell 1 to cell 2, and reports it to the witness.
void copy_strict(pow_subject& p) {
  uint64_t seen = 0;
  p.section(
      strict,
      [&](pow::section& x) {
        seen = p.number(1);
        p.put_number(x, 2, seen);
      },
      p.b);
  if (seen > p.witnessed(2)) p.witness(2, seen);
}

// The smallest such thing: few states, so that nearly all of them are looked at.
pow_scenario pair(const named_kind& k) {
  auto s = with("later-pair", k);
  s.setup(start_from_nothing);
  for (uint64_t t = 0; t < 2; ++t) s.in_thread(t).observe(follows);
  s.in_thread(0).step("count", count_later);
  s.in_thread(1).step("copy", [](pow_subject& p) { copy_later(p, 1); });
  return s;
}

pow_scenario chain(const named_kind& k) {
  auto s = with("later-chain", k);
  s.setup(start_from_nothing);
  for (uint64_t t = 0; t < 2; ++t) s.in_thread(t).observe(follows);
  for (int i = 0; i < 3; ++i) {
    s.in_thread(0).step("count", count_later);
    s.in_thread(1).step("copy", [](pow_subject& p) { copy_later(p, 1); });
  }
  s.in_thread(1).step("sync", sync_and_report);
  s.in_thread(0).step("count", count_later);
  s.in_thread(1).step("copy", [](pow_subject& p) { copy_later(p, 1); });
  s.in_thread(1).step("a strict one", copy_strict);
  return s;
}

// A thread reads a value under one lock and writes it under another lock. Only the thread knows
// of the connection.
pow_scenario carried(const named_kind& k) {
  auto s = with("later-carried", k);
  s.setup(start_from_nothing);
  for (uint64_t t = 0; t < 3; ++t) s.in_thread(t).observe(follows);
  for (int i = 0; i < 3; ++i) s.in_thread(0).step("count", count_later);
  for (int i = 0; i < 2; ++i)
    s.in_thread(1).step("read, then write", [](pow_subject& p) {
      uint64_t seen = 0;
      p.section(later, [&](pow::section&) { seen = p.number(0); }, p.a);
      p.section(later, [&](pow::section& x) { p.put_number(x, 1, seen); }, p.b);
    });
  for (int i = 0; i < 2; ++i)
    s.in_thread(2).step("copy", [](pow_subject& p) {
      p.section(later, [&](pow::section& x) { p.put_number(x, 2, p.number(1)); }, p.b);
    });
  s.in_thread(2).step("sync", sync_and_report);
  return s;
}

// The cleaner runs concurrently with them.
pow_scenario later_cleaned(const named_kind& k) {
  named_kind wide = k;
  wide.kind.segments = wide.kind.most = 12;
  auto s = with("later-cleaned", wide);
  s.setup([](pow_subject& p) {
    start_from_nothing(p);
    for (uint64_t i = 0; i < 6; ++i)
      p.put(50 + i % 2, std::string(1500, static_cast<char>('a' + i)));
  });
  for (uint64_t t = 0; t < 2; ++t) s.in_thread(t).observe(follows);
  const auto fill = [](pow_subject& p, uint64_t cell) {
    p.section(later, [&](pow::section& x) { p.cells().put(x, cell, std::string(3000, 'x')); });
  };
  for (int i = 0; i < 2; ++i) {
    s.in_thread(0).step("count", count_later);
    s.in_thread(0).step("fill", [=](pow_subject& p) { fill(p, 60); });
    s.in_thread(1).step("copy", [](pow_subject& p) { copy_later(p, 1); });
    s.in_thread(1).step("fill", [=](pow_subject& p) { fill(p, 61); });
    s.in_thread(i % 2).step("clean", [](pow_subject& p) { p.store().clean(1); });
  }
  s.in_thread(0).step("clean", [](pow_subject& p) { p.store().clean(2); });
  s.in_thread(1).step("sync", sync_and_report);
  return s;
}

// A victim has sections that a later section of the lane rests on, and only the mark says that
// they were durable. A sync that has nothing to do any more reports them to the other thread.
pow_scenario later_marked(const named_kind& k) {
  named_kind wide = k;
  wide.kind.segments = wide.kind.most = 12;
  auto s = with("later-marked", wide);
  s.setup([](pow_subject& p) {
    start_from_nothing(p);
    p.put(60, "small");
  });
  for (uint64_t t = 0; t < 2; ++t) s.in_thread(t).observe(follows);
  const auto fill = [](pow_subject& p, uint64_t cell) {
    p.section(later, [&](pow::section& x) { p.cells().put(x, cell, std::string(3000, 'x')); });
  };
  for (const uint64_t cell : {60, 61, 60})
    s.in_thread(0).step("fill", [=](pow_subject& p) { fill(p, cell); });
  s.in_thread(0).step("count", count_later);
  s.in_thread(0).step("clean", [](pow_subject& p) { p.store().clean(1); });
  for (int i = 0; i < 2; ++i) s.in_thread(1).step("sync", sync_and_report);
  return s;
}

// One thread: later sections, the cleaner, sync, a death.
pow_scenario later_alone(const named_kind& k) {
  auto s = with("later-alone", k);
  s.setup([](pow_subject& p) {
    start_from_nothing(p);
    for (uint64_t i = 0; i < 6; ++i)
      p.put(50 + i % 2, std::string(1500, static_cast<char>('a' + i)));
  });
  s.observe(follows);
  for (int round = 0; round < 2; ++round) {
    s.step("count", count_later);
    s.step("copy", [](pow_subject& p) { copy_later(p, 1); });
    s.step("clean", [](pow_subject& p) { p.store().clean(1); });
    s.step("count", count_later);
    s.step("sync", sync_and_report);
    s.step("count", count_later);
    s.step("copy", [](pow_subject& p) { copy_later(p, 1); });
    s.step("copy", [](pow_subject& p) { copy_later(p, 2); });
    if (round == 0)
      s.step_on_stage("die and open", [](const stage_of<pow_subject>& on) {
        on.abandon();
        on.open();
      });
  }
  s.step("clean", [](pow_subject& p) { p.store().clean(2); });
  return s;
}

// A later section that has streamed some of it is aborted. A strict one of the same thread does not
// rest on it, and has to be there all the same.
pow_scenario later_aborted(const named_kind& k) {
  auto s = with("later-aborted", k);
  s.setup(start_from_nothing);
  s.observe([](pow_subject& p) { return p.cells().all(); });
  for (int i = 0; i < 3; ++i) {
    s.step("aborted", [](pow_subject& p) {
      pow::section x(p.store().parts(), later);
      p.cells().put(x, 5, "never");
      x.stream();
      p.cells().put(x, 6, "never");
      x.stream();
    });
    s.step("strict", [](pow_subject& p) { p.put(0, std::to_string(p.number(0) + 1)); });
  }
  return s;
}

// A strict section streams some of its data and is aborted, directly after a later section in
// its lane (POW-13).
pow_scenario later_abandoned(const named_kind& k) {
  auto s = with("later-abandoned", k);
  s.setup(start_from_nothing);
  s.observe(follows);
  const auto abandon = [](pow_subject& p) {
    pow::section x(p.store().parts(), strict);
    p.cells().put(x, 5, "never");
    x.stream();
  };
  for (const bool reports : {true, false}) {
    s.step("count", count_later);
    s.step("strict, aborted", abandon);
    if (reports)
      s.step("sync", sync_and_report);
    else
      s.step("strict", [](pow_subject& p) { p.put(6, "something else"); });
    s.step("count", count_later);
    s.step("copy", [](pow_subject& p) { copy_later(p, 1); });
  }
  return s;
}

// One thread replaces an object, later, under one lock. Another thread makes an object of its
// own under another lock, and neither sees the other. The index of the replaced object is free
// (POW-14).
pow_scenario later_reused(const named_kind& k) {
  named_kind free = k;
  free.kind.free_indexes = true;
  auto s = with("later-reused", free);
  s.setup([](pow_subject& p) {
    p.section(strict, [&](pow::section& x) { p.named().make(x, "first"); });
  });
  const auto whole = [](pow_subject& p) {
    uint64_t firsts = 0, others = 0;
    for (const auto& [index, text] : p.named().texts) (text == "other" ? others : firsts) += 1;
    return firsts == 1 && others >= p.witnessed(0) ? "whole" : "torn: " + p.named().all();
  };
  for (uint64_t t = 0; t < 2; ++t) s.in_thread(t).observe(whole);
  for (int i = 0; i < 3; ++i) {
    s.in_thread(0).step("replace", [](pow_subject& p) {
      p.section(
          later,
          [&](pow::section& x) {
            for (const auto& [index, text] : p.named().texts)
              if (text == "first") {
                p.named().erase(x, index);
                break;
              }
            p.named().make(x, "first");
          },
          p.a);
    });
    s.in_thread(1).step("make", [](pow_subject& p) {
      p.section(strict, [&](pow::section& x) { p.named().make(x, "other"); }, p.b);
      p.witness(0, p.witnessed(0) + 1);
    });
  }
  s.in_thread(0).step("sync", [](pow_subject& p) { p.store().sync(); });
  s.in_thread(0).step("make", [](pow_subject& p) {
    p.section(strict, [&](pow::section& x) { p.named().make(x, "other"); }, p.a);
  });
  return s;
}

// While one thread syncs, another one ends a section in a lane that the sync has looked at already,
// and a third one names that in a lane which it has not (POW-15).
pow_scenario later_overtaken(const named_kind& k) {
  auto s = with("later-overtaken", k);
  s.setup(start_from_nothing);
  for (uint64_t t = 0; t < 3; ++t) s.in_thread(t).observe(follows);
  s.in_thread(0).step("count", count_later);
  s.in_thread(1).step("copy", [](pow_subject& p) { copy_later(p, 1); });
  s.in_thread(2).step("have lanes", [](pow_subject& p) {
    for (uint32_t lane = 1; lane < 4; ++lane) p.store().parts().lane_at(lane);
  });
  for (int i = 0; i < 6; ++i) {
    s.in_thread(2).step("sync", [](pow_subject& p) { p.store().sync(); });
    s.in_thread(2).step("a strict one", copy_strict);
  }
  return s;
}

// Sections of one stream give their locks back early. The objects that another section has seen
// and reported must be present.
pow_scenario reported(const named_kind& k) {
  auto s = with("reported", k);
  s.setup(start_from_nothing);
  for (uint64_t t = 0; t < 2; ++t) s.in_thread(t).observe(follows);
  for (int i = 0; i < 3; ++i) {
    s.in_thread(0).step("count", [](pow_subject& p) {
      p.section(strict, [&](pow::section& x) { p.put_number(x, 0, p.number(0) + 1); }, p.a);
    });
    s.in_thread(1).step("read and report", [](pow_subject& p) {
      uint64_t seen = 0;
      p.section(strict, [&](pow::section&) { seen = p.number(0); }, p.a);
      if (seen > p.witnessed(0)) p.witness(0, seen);
    });
    s.in_thread(1).step("copy", [](pow_subject& p) {
      p.section(strict, [&](pow::section& x) { p.put_number(x, 1, p.number(0)); }, p.a);
    });
  }
  return s;
}

// The same from hand to hand: the last of three threads observes the first one's work, and has
// never held its lock. One of them does not wait for its own sections.
pow_scenario reported_on(const named_kind& k) {
  auto s = with("reported-on", k);
  s.setup(start_from_nothing);
  for (uint64_t t = 0; t < 3; ++t) s.in_thread(t).observe(follows);
  for (int i = 0; i < 2; ++i) {
    s.in_thread(0).step("count", [](pow_subject& p) {
      p.section(strict, [&](pow::section& x) { p.put_number(x, 0, p.number(0) + 1); }, p.a);
    });
    s.in_thread(1).step("copy", [=](pow_subject& p) {
      p.section(
          i == 0 ? strict : later, [&](pow::section& x) { p.put_number(x, 1, p.number(0)); }, p.a,
          p.b);
    });
    s.in_thread(2).step("a strict one", copy_strict);
  }
  s.in_thread(1).step("sync", sync_and_report);
  return s;
}

}  // namespace

void add_later_scenarios(std::vector<pow_entry>& to) {
  for (const named_kind* k : {&none, &always})
    for (const auto make : {pair, chain, carried, later_cleaned, later_alone, later_aborted,
                            later_abandoned, later_reused, later_overtaken})
      add(to, *k, make);
  for (const named_kind* k : {&none, &stream, &always_stream})
    for (const auto make : {reported, reported_on}) add(to, *k, make);
  add(to, none, later_marked);
}

}  // namespace scute::testing
