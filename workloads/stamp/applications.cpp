// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/stamp/applications.hpp"

#include <stdexcept>

#include "workloads/stamp/on_store.hpp"
#include "workloads/stores/counting_store.hpp"

namespace scute::workloads::stamp {
namespace {

template <class T>
T pick(scale size, const T& full, const T& quick, const T& tiny) {
  return size == scale::full ? full : size == scale::quick ? quick : tiny;
}

vacation_input make_vacation(scale size, bool high, unsigned threads, uint64_t seed) {
  const uint32_t queries = high ? 4 : 2;
  const unsigned range = high ? 60 : 90, reservations = high ? 90 : 98;
  const uint64_t relations = pick<uint64_t>(size, 65536, 16384, 128);
  const uint64_t tasks = pick<uint64_t>(size, 262144, 4096, 300);
  return vacation_input({queries, range, reservations, relations, tasks, seed}, threads);
}

kmeans_input make_kmeans(scale size, uint32_t clusters, uint64_t seed) {
  return kmeans_input(pick<kmeans_setup>(size, {16384, 32, 16, clusters, 20, 0.00001, seed},
                                         {2048, 16, 16, clusters, 20, 0.05, seed},
                                         {200, 8, 4, clusters, 3, 0.05, seed}));
}

}  // namespace

const std::vector<application>& applications() {
  // Bytes, transactions and updates of Table 2.
  static const std::vector<application> all{
      {"genome", 1, {7.2, 2'489'218, 7'230'727}},
      {"intruder", 2, {20.5, 23'428'126, 106'976'163}},
      {"kmeans-low", 2, {101, 9'874'166, 266'600'674}},
      {"kmeans-high", 2, {101, 4'106'954, 110'887'006}},
      {"labyrinth", 1, {1420, 1'026, 184'190}},
      {"ssca2", 2, {16, 22'362'279, 89'449'114}},
      {"vacation-low", 2, {44.2, 4'194'304, 31'582'272}},
      {"vacation-high", 2, {67.8, 4'194'304, 43'950'938}},
      {"yada", 1, {175.6, 2'415'298, 57'844'629}},
  };
  return all;
}

any_input make_input(std::string_view name, scale size, unsigned threads, uint64_t seed) {
  if (name == "genome")
    return genome_input(pick<genome_setup>(size, {16384, 64, 524288, seed}, {256, 16, 16384, seed},
                                           {200, 16, 400, seed}));
  if (name == "intruder")
    return intruder_input(
        pick<intruder_setup>(size, {16384, 16, 10, seed}, {2038, 4, 10, seed}, {50, 8, 10, seed}));
  if (name == "kmeans-low") return make_kmeans(size, 40, seed);
  if (name == "kmeans-high") return make_kmeans(size, 15, seed);
  if (name == "labyrinth")
    return labyrinth_input(pick<labyrinth_setup>(size, {128, 128, 3, 128, seed},
                                                 {32, 32, 3, 96, seed}, {12, 12, 2, 8, seed}));
  if (name == "ssca2") return ssca2_input({pick<unsigned>(size, 16, 13, 7), seed});
  if (name == "vacation-low") return make_vacation(size, false, threads, seed);
  if (name == "vacation-high") return make_vacation(size, true, threads, seed);
  if (name == "yada")
    return yada_input(pick<yada_setup>(size, {20000, 15, seed}, {633, 20, seed}, {40, 20, seed}));
  throw std::invalid_argument("STAMP has no application " + std::string(name));
}

load measure(const any_input& any) {
  return std::visit(
      []<class Input>(const Input& input) {
        counting_store s;
        typename application_for<Input>::template on<counting_store> a(s, input, 1);
        a.prepare();
        s.reset();
        if (a.run(0) != s.transactions()) throw std::logic_error("transactions are miscounted");
        if (const std::string wrong = a.check(); !wrong.empty()) throw std::logic_error(wrong);
        const auto n = static_cast<double>(s.transactions());
        const load l{static_cast<double>(s.total().modified_bytes) / n, s.transactions(),
                     s.updates(), static_cast<double>(s.total().new_bytes) / n};
        a.clear();
        return l;
      },
      any);
}

}  // namespace scute::workloads::stamp
