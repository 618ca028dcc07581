// SPDX-License-Identifier: BSD-3-Clause
#include "scenarios.hpp"

namespace scute::testing {
namespace {

using pow::durability;
using enum pow::durability;

struct named_kind {
  const char* name;
  pow_kind kind;
};
const named_kind none{"none", {}}, always{"always", {pow::protection::always}},
    stream{"stream", {pow::protection::none, true}};

pow_scenario with(const std::string& name, const named_kind& k) {
  return pow_scenario(name + "/" + k.name,
                      [kind = k.kind] { return std::make_unique<pow_subject>(kind); });
}

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

// Without a call of the cleaner: whoever needs room cleans.
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

// Sections that are written while they go on, and such that need several segments.
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

// What later sections leave must be whole: cell 1 follows cell 0, cell 2 follows cell 1, whoever copied it.
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
// Says what is durable to somebody who remembers.
void sync_and_tell(pow_subject& p) {
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
  s.in_thread(1).step("sync", sync_and_tell);
  s.in_thread(0).step("count", count_later);
  s.in_thread(1).step("copy", [](pow_subject& p) { copy_later(p, 1); });
  s.in_thread(1).step("a strict one", [](pow_subject& p) {
    uint64_t seen = 0;
    p.section(
        strict,
        [&](pow::section& x) {
          seen = p.number(1);
          p.put_number(x, 2, seen);
        },
        p.b);
    if (seen > p.witnessed(2)) p.witness(2, seen);
  });
  return s;
}

// What a thread has read under one lock it writes under another one: nobody but the thread knows of it.
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
  s.in_thread(2).step("sync", sync_and_tell);
  return s;
}

// The cleaner beside them.
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
  s.in_thread(1).step("sync", sync_and_tell);
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
    s.step("sync", sync_and_tell);
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

// Sections of one stream give their locks back early: what another one has seen, and told, has to be there.
pow_scenario told(const named_kind& k) {
  auto s = with("told", k);
  s.setup(start_from_nothing);
  for (uint64_t t = 0; t < 2; ++t) s.in_thread(t).observe(follows);
  for (int i = 0; i < 3; ++i) {
    s.in_thread(0).step("count", [](pow_subject& p) {
      p.section(strict, [&](pow::section& x) { p.put_number(x, 0, p.number(0) + 1); }, p.a);
    });
    s.in_thread(1).step("read and tell", [](pow_subject& p) {
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

}  // namespace

const std::vector<pow_entry>& pow_scenarios() {
  static const std::vector<pow_entry> all = [] {
    std::vector<pow_entry> to;
    const auto add = [&](const named_kind& k, pow_scenario (*make)(const named_kind&)) {
      to.push_back({make(k).name(), [&k, make] { return make(k); }});
    };
    for (const named_kind* k : {&none, &always, &stream})
      for (const auto make :
           {sections, reopened, created, cleaned, crowded, parts, growing, compacted, shared})
        add(*k, make);
    for (const named_kind* k : {&none, &always})
      for (const auto make : {pair, chain, carried, later_cleaned, later_alone}) add(*k, make);
    for (const named_kind* k : {&none, &stream}) add(*k, told);
    return to;
  }();
  return all;
}

}  // namespace scute::testing
