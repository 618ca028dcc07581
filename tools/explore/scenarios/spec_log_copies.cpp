// SPDX-License-Identifier: BSD-3-Clause
// Engine spec: next to a pool that was closed lies the log file of another moment, or of another
// copy of the pool. Nothing in it counts, whenever the next opening ends (LOGFILE-2, LOGFILE-8,
// LOGFILE-9). (A killed pool refuses it: session/session_number_test.cpp.)
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "scenarios/spec_scene.hpp"

namespace scute::explore {
namespace {

// The bytes of the pool at some moment, and after them those of the place of its log.
using moment = std::shared_ptr<std::vector<std::byte>>;

class copies {
 public:
  copies(const std::string& name, const level& l)
      : scene(spec_scene(name + "/" + l.name, spec_options(l))), pool_(spec_options(l).size) {
    scene.with_log_file();
    scene.observe([](scute::pool& p) { return contents(p, 0); });
  }

  void overwrite(unsigned i, unsigned version) {
    scene.step("overwrite object " + std::to_string(i),
               [=](scute::pool& p) { commit(p, 0, [&](change& c) { c.overwrite(i, version); }); });
  }
  void open() {
    scene.step_on_stage("open", [](const testing::stage& at) { at.open(); });
  }
  void close() {
    scene.step_on_stage("close", [](const testing::stage& at) { at.close(); });
  }
  // Copies both files.
  moment copy() {
    auto to = std::make_shared<std::vector<std::byte>>();
    scene.step_on_stage("copy", [to](const testing::stage& at) {
      to->assign(at.bytes().begin(), at.bytes().end());
    });
    return to;
  }
  // Opens the pool of one moment with the log of another. The second time no step has
  // changed the text that a recovery must read.
  void open(const moment& pool, const moment& log) {
    for (const char* what : {"open a copy", "open it again"})
      scene.step_on_stage(what, [=, n = static_cast<ptrdiff_t>(pool_)](const testing::stage& at) {
        if (at.is_open()) at.abandon();
        std::vector<std::byte> both(*pool);
        std::copy(log->begin() + n, log->end(), both.begin() + n);
        at.damage(0, both);
        at.open();
      });
  }

  testing::scenario scene;

 private:
  const uint64_t pool_;
};

// The log is older than the pool.
testing::scenario older(const level& l) {
  copies s("log-file-older", l);
  s.overwrite(0, 10);
  const moment then = s.copy();
  s.overwrite(0, 11);
  s.close();
  const moment closed = s.copy();
  s.open(closed, then);
  s.overwrite(1, 12);
  return std::move(s.scene);
}

// It is newer: it has what came later, and belongs to no pool that is there.
testing::scenario newer(const level& l) {
  copies s("log-file-newer", l);
  s.overwrite(0, 10);
  s.close();
  const moment closed = s.copy();
  s.open();
  s.overwrite(0, 11);
  s.overwrite(1, 12);
  const moment later = s.copy();
  s.close();
  const moment later_closed = s.copy();
  for (const moment& log : {later, later_closed}) {
    s.open(closed, log);
    s.overwrite(2, 13);
    s.close();
  }
  return std::move(s.scene);
}

// Two copies of a pool have had one session each, of the same epoch. Each has the log of the other
// one. The first copy continues where the pool was closed, the second where it was killed. (Only
// so do simulated sessions differ in their numbers.)
testing::scenario swapped(const level& l) {
  copies s("log-file-swapped", l);
  s.overwrite(0, 10);
  checkpoint(s.scene);
  const moment killed = s.copy();
  s.close();
  s.open();
  s.overwrite(0, 11);
  s.overwrite(1, 12);
  const moment first = s.copy();
  s.close();
  const moment first_closed = s.copy();
  s.open(killed, killed);
  s.overwrite(0, 13);
  s.overwrite(2, 14);
  const moment second = s.copy();
  s.close();
  const moment second_closed = s.copy();
  for (const moment& log : {first, first_closed}) {
    s.open(second_closed, log);
    s.overwrite(1, 15);
    s.close();
  }
  for (const moment& log : {second, second_closed}) {
    s.open(first_closed, log);
    s.overwrite(2, 16);
    s.close();
  }
  // Each with its own.
  s.open(first, first);
  s.overwrite(2, 17);
  s.close();
  s.open(second, second);
  s.overwrite(1, 18);
  return std::move(s.scene);
}

}  // namespace

void add_log_copy_scenarios(std::vector<entry>& to) {
  add_at(
      {spec_levels[0], spec_levels[1], spec_levels[2], spec_levels[3], spec_levels[5]},
      {{"log-file-older", "engine spec, a log file: an older copy of it next to the pool", older},
       {"log-file-newer", "engine spec, a log file: it is newer than the pool", newer},
       {"log-file-swapped", "engine spec, a log file: it is that of another copy", swapped}},
      to);
}

}  // namespace scute::explore
