// SPDX-License-Identifier: BSD-3-Clause
// The systems that do one task of the ENTS paper's benchmarks side by side, and what they took for
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/benchmarks.hpp"
#include "systems/ents_system.hpp"

namespace scute::bench {

// Whether a system stands in the rows of so many threads.
bool contends(const options& o, const ents_kind& k, unsigned threads, bool level);

// There are many cells: a part of the rounds has to do.
inline unsigned ents_rounds(const options& o) {
  return o.quick ? (o.rounds + 2) / 3 : (o.rounds + 1) / 2;
}

class ents_match {
 public:
  // Builds the task in every system. `requests` is how many will be run on each, and `title` what
  // messages name.
  ents_match(session& s, const workloads::ents::task& what, uint64_t requests, unsigned threads,
             std::string title);

  // Without those that do not stand in the rows of so many threads. They do not come back.
  void keep(unsigned threads);
  // Forgets the samples.
  void begin();
  // Every system runs these requests, those of a thread each, in an order that follows from the
  // number of the round.
  void round(unsigned number, const std::vector<workloads::ents::batch>& requests, bool measured);
  // A row for each system; `like` has all but system and numbers.
  void publish(const row& like);
  // Throws std::runtime_error if a system is not sound.
  void check();

 private:
  struct contestant {
    const ents_kind* kind;
    std::unique_ptr<ents_system> system;
    std::vector<double> samples;  // ns per request of a thread
    costs spent;
    uint64_t requests = 0;
    bool counts = false;
  };
  void play(contestant& c, const std::vector<workloads::ents::batch>& requests, bool measured);

  session& s_;
  std::string title_;
  bool level_;
  std::vector<contestant> contestants_;
};

// The row of a system, without numbers.
row ents_row(const row& like, const ents_kind& kind);

}  // namespace scute::bench
