// SPDX-License-Identifier: BSD-3-Clause
// The applications of STAMP (Cao Minh, Chung, Kozyrakis, Olukotun; IISWC 2008) but for bayes, written anew
// from published descriptions, on stores: a critical section is a transaction. What is common to them:
//
//   A::input                  made from a seed, the same for all stores
//   A(store, input, threads)
//   a.prepare()               brings the store into the state that the application begins with
//   a.run(thread)             in each of the threads at once, each once: does the work, and returns how many
//                             transactions it took
//   a.check()                 "" if the result is right as far as the input tells, else what is wrong
//   a.clear()                 frees everything
//
// Fields are edited one by one where they are stored to, except for runs of an array.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "workloads/stamp/genome.hpp"
#include "workloads/stamp/intruder.hpp"
#include "workloads/stamp/kmeans.hpp"
#include "workloads/stamp/labyrinth.hpp"
#include "workloads/stamp/load.hpp"
#include "workloads/stamp/ssca2.hpp"
#include "workloads/stamp/vacation.hpp"
#include "workloads/stamp/yada.hpp"

namespace scute::workloads::stamp {

struct application {
  const char* name;
  unsigned threads_max;
  load paper;  // as the paper has it, for the native inputs
};
const std::vector<application>& applications();

// How much is done: the design's scaled native inputs, STAMP's inputs for simulators, or what tests take.
enum class scale : uint8_t { full, quick, tiny };

using any_input = std::variant<genome_input, intruder_input, kmeans_input, labyrinth_input,
                               ssca2_input, vacation_input, yada_input>;
any_input make_input(std::string_view name, scale size, unsigned threads, uint64_t seed);

// application_for<Input>::on<Store>
template <class Input>
struct application_for;
template <>
struct application_for<genome_input> {
  template <store S>
  using on = genome<S>;
};
template <>
struct application_for<intruder_input> {
  template <store S>
  using on = intruder<S>;
};
template <>
struct application_for<kmeans_input> {
  template <store S>
  using on = kmeans<S>;
};
template <>
struct application_for<labyrinth_input> {
  template <store S>
  using on = labyrinth<S>;
};
template <>
struct application_for<ssca2_input> {
  template <store S>
  using on = ssca2<S>;
};
template <>
struct application_for<vacation_input> {
  template <store S>
  using on = vacation<S>;
};
template <>
struct application_for<yada_input> {
  template <store S>
  using on = yada<S>;
};

// Runs an application in one thread on a store that counts. Throws if its result is wrong.
load measure(const any_input& input);

}  // namespace scute::workloads::stamp
