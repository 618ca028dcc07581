// SPDX-License-Identifier: BSD-3-Clause
// The applications as templates over stores: application_for<Input>::on<Store>. A critical section
// is a transaction. Their common interface:
//
//   A::input                  made from a seed, the same for all stores
//   A(store, input, threads)
//   a.prepare()               brings the store into the state that the application begins with
//   a.run(thread)             in each of the threads at once, each once: does the work, and returns
//                             how many transactions it took
//   a.check()                 "" if the result is right as far as the input shows, else what is
//                             wrong
//   a.clear()                 frees everything
//
// Fields are edited one by one where they are stored to, except for runs of an array.
#pragma once

#include "workloads/stamp/genome.hpp"
#include "workloads/stamp/intruder.hpp"
#include "workloads/stamp/kmeans.hpp"
#include "workloads/stamp/labyrinth.hpp"
#include "workloads/stamp/ssca2.hpp"
#include "workloads/stamp/vacation.hpp"
#include "workloads/stamp/yada.hpp"
#include "workloads/stores/store.hpp"

namespace scute::workloads::stamp {

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

}  // namespace scute::workloads::stamp
