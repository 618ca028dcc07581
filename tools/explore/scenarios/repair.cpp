// SPDX-License-Identifier: BSD-3-Clause
// Injuries that full protection must repair, and power
// failures while it repairs them (REPAIR-2).
#include <algorithm>
#include <stdexcept>

#include "scenarios/catalogue.hpp"
#include "scenarios/directory.hpp"
#include "scenarios/layout.hpp"

namespace scute::explore {
namespace {

void commit(scute::pool& p, const std::function<void(change&)>& body) {
  change c(p, 0);
  body(c);
  c.commit();
}

uint64_t offset_of(scute::pool& p, uint64_t slot) {
  const change c(p, 0);
  return c.oid(slot) & 0xffff'ffff'ffffu;  // the low bits of an oid are the payload's file offset
}

void scribble(const testing::stage& at, uint64_t offset, uint64_t n, unsigned fill) {
  std::byte noise[4096];
  for (uint64_t done = 0; done < n; done += sizeof noise) {
    const uint64_t part = std::min<uint64_t>(sizeof noise, n - done);
    fill_bytes(noise, part, fill + static_cast<unsigned>(done));
    at.damage(offset + done, {noise, static_cast<size_t>(part)});
  }
}

testing::scenario start(const std::string& name, const level& l) {
  testing::scenario s(name, testing::small_pool(l.protection));
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, [](change& c) {
      c.alloc(0, 200, 1);
      c.alloc(1, 200, 2);
      c.alloc(2, 9000, 3);
      c.alloc(3, 40000, 4);
    });
  });
  s.observe([](scute::pool& p) { return contents(p, 0); });
  return s;
}

// The step in which a checked pool repairs itself.
void check_and_repair(scute::pool& p) {
  const auto r = p.check(true);
  if (r.lost != 0) throw std::runtime_error("the repair lost something");
}

// Injury and change are one step: the observer would repair what it reads in between.
testing::scenario objects(const level& l) {
  auto s = start("repair-objects", l);
  for (unsigned k = 0; k < 3; ++k) {
    s.step_on_stage("flip a bit of a small object, and open it", [k](const testing::stage& at) {
      const uint64_t where = offset_of(at.pool(), 0) + 30 * k;
      const std::byte flipped[] = {at.bytes()[where] ^ std::byte{4}};
      at.damage(where, flipped);
      commit(at.pool(), [&](change& c) { c.overwrite(0, 10 + k); });
    });
    s.step_on_stage(
        "scribble over a fragment, and edit it elsewhere", [k](const testing::stage& at) {
          scribble(at, offset_of(at.pool(), 2) + 4096 * (k % 2) + 100, 1000 + 1000 * k, k);
          commit(at.pool(), [&](change& c) { c.edit(2, 8000 - 4000 * k, 100, 20 + k); });
        });
    s.step_on_stage("lose a page of a large object", [k](const testing::stage& at) {
      scribble(at, (offset_of(at.pool(), 3) + 8192 * k) / 4096 * 4096 + 4096, 4096, 30 + k);
    });
    s.step("check and repair", check_and_repair);
  }
  return s;
}

// An object is damaged after it was opened, in the range and next to it; the commit must not take
// the damage for the old content.
testing::scenario while_open(const level& l) {
  auto s = start("damaged-while-open", l);
  for (unsigned k = 0; k < 2; ++k)
    s.step_on_stage("open, damage, commit", [k](const testing::stage& at) {
      scute::pool& p = at.pool();
      const uint64_t object = offset_of(p, 2);
      change c(p, 0);
      c.edit(2, 1000, 100, 20 + k);
      scribble(at, object + 1050, 20, 5 + k);
      scribble(at, object + 2000, 20, 6 + k);
      c.commit();
      expect(p, 0, 2, 1000, 100, 20 + k);
    });
  return s;
}

// Bits are flipped all over a fragment, and of its columns' parity elsewhere.
testing::scenario flips(const level& l) {
  auto s = start("repair-flips", l);
  for (unsigned k = 0; k < 3; ++k) {
    s.step_on_stage("flip bits of an object and of parity by turns", [k](const testing::stage& at) {
      const layout where(at);
      for (unsigned i = 0; i < 8; ++i) {
        const uint64_t own = offset_of(at.pool(), 3) + 8192 * k + 300 * i;
        const uint64_t hit =
            i % 2 == 0 ? own : where.parity(0) + (own - where.zone) % where.row_size;
        const std::byte flipped[] = {at.bytes()[hit] ^ std::byte{1}};
        at.damage(hit, flipped);
      }
    });
    s.step("check and repair", check_and_repair);
  }
  return s;
}

// Headers of objects and chunks, the zone's descriptor, the root's anchor: page by page.
testing::scenario metadata(const level& l) {
  auto s = start("repair-metadata", l);
  for (unsigned k = 0; k < 3; ++k) {
    s.step_on_stage("scribble over object headers", [k](const testing::stage& at) {
      scribble(at, offset_of(at.pool(), k) - 32, 32, 40 + k);
    });
    s.step("check and repair", check_and_repair);
    s.step_on_stage("lose a page of the zone's tables", [k](const testing::stage& at) {
      // 3 lanes of 4 KiB, twice, after two superblocks: the zone's first pages.
      scribble(at, 8192 + 6 * 4096 + (k % 2) * 4096, k == 2 ? 300 : 4096, 50 + k);
    });
    s.step("check and repair", check_and_repair);
    s.step("continue", [k](scute::pool& p) {
      commit(p, [&](change& c) {
        c.overwrite(1, 60 + k);
        c.alloc(5 + k, 700, k);
      });
    });
  }
  return s;
}

uint64_t count_of(scute::pool& p) {
  uint64_t n = 0;
  for (const auto object : p.objects()) n += object.oid() != 0 ? 1 : 0;
  return n;
}

// All objects are enumerated, though headers of some are damaged.
testing::scenario enumeration(const level& l) {
  auto s = start("enumerated-damaged", l);
  for (unsigned k = 0; k < 2; ++k) {
    s.step_on_stage("scribble over an object's header; enumerate", [k](const testing::stage& at) {
      const uint64_t all = count_of(at.pool());
      scribble(at, offset_of(at.pool(), k) - 32, 32, 40 + k);
      if (count_of(at.pool()) != all)
        throw std::runtime_error("the enumeration passes over an object");
    });
    s.step("check and repair", check_and_repair);
  }
  return s;
}

testing::scenario parity(const level& l) {
  auto s = start("repair-parity", l);
  for (unsigned k = 0; k < 3; ++k) {
    s.step_on_stage("scribble over parity", [k](const testing::stage& at) {
      const auto i = at.pool().info();
      const uint64_t zone = 8192 + 6 * 4096;
      scribble(at, zone + i.rows * i.row_size + 4096 * k + 100, 5000, 70 + k);
    });
    s.step("check and repair", check_and_repair);
    s.step("continue", [k](scute::pool& p) {
      commit(p, [&](change& c) { c.edit(2, 3000 * k, 500, 80 + k); });
    });
  }
  return s;
}

// A repair while another thread commits: neighbours in rows, but never in a column that is damaged,
// which would be a fault and a crash in one column, more than one parity row can repair.
testing::scenario two_threads(const level& l) {
  testing::scenario s("repair-threads", testing::small_pool(l.protection));
  s.setup([](scute::pool& p) {
    make_directories(p);
    for (unsigned t = 0; t < 2; ++t) {
      change c(p, t);
      for (unsigned k = 0; k < 3; ++k) c.alloc(k, 200, k + t);
      if (t == 0) c.alloc(3, 9000, 3);
      c.commit();
    }
  });
  for (unsigned t = 0; t < 2; ++t)
    s.in_thread(t).observe([t](scute::pool& p) { return contents(p, t); });
  s.step_on_stage("scribble, and open it", [](const testing::stage& at) {
    scribble(at, offset_of(at.pool(), 3) + 100, 2000, 90);
    scribble(at, offset_of(at.pool(), 0), 100, 91);
    commit(at.pool(), [&](change& c) {
      c.edit(3, 0, 50, 92);
      c.overwrite(0, 93);
    });
  });
  s.step("check and repair", check_and_repair);
  for (unsigned k = 0; k < 3; ++k)
    s.in_thread(1).step("overwrite", [k](scute::pool& p) {
      change c(p, 1);
      c.overwrite(k, 60 + k);
      c.commit();
    });
  return s;
}

}  // namespace

void add_repair_scenarios(std::vector<entry>& to) {
  struct kind {
    const char* name;
    const char* about;
    testing::scenario (*make)(const level&);
  };
  for (const kind& k :
       {kind{"repair-objects", "objects are injured, and repaired when opened or checked", objects},
        {"repair-flips", "bits are flipped in several rows", flips},
        {"damaged-while-open", "an object is damaged while it is open", while_open},
        {"repair-metadata", "headers and tables are injured", metadata},
        {"enumerated-damaged", "objects are enumerated whose headers are injured", enumeration},
        {"repair-parity", "parity is injured", parity},
        {"repair-threads", "a repair while another thread commits", two_threads}}) {
    to.push_back({k.name, k.about, [make = k.make](uint64_t) { return make(levels[3]); }});
    for (const level& l : {levels[4], levels[5]})
      to.push_back({std::string(k.name) + "/" + l.name, k.about,
                    [make = k.make, l](uint64_t) { return make(l); }});
  }
}

}  // namespace scute::explore
