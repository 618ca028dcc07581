// SPDX-License-Identifier: BSD-3-Clause
// The applications of STAMP (Cao Minh, Chung, Kozyrakis, Olukotun; IISWC 2008) except bayes, and
// their inputs. They are rewritten from published descriptions, on stores: see on_store.hpp.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "workloads/stamp/genome_input.hpp"
#include "workloads/stamp/intruder_input.hpp"
#include "workloads/stamp/kmeans_input.hpp"
#include "workloads/stamp/labyrinth_input.hpp"
#include "workloads/stamp/load.hpp"
#include "workloads/stamp/ssca2_input.hpp"
#include "workloads/stamp/vacation_input.hpp"
#include "workloads/stamp/yada_input.hpp"

namespace scute::workloads::stamp {

struct application {
  const char* name;
  unsigned threads_max;
  load paper;  // as the paper has it, for the native inputs
};
const std::vector<application>& applications();

// How much is done: the design's scaled native inputs, STAMP's inputs for simulators, or what tests
// take.
enum class scale : uint8_t { full, quick, tiny };

using any_input = std::variant<genome_input, intruder_input, kmeans_input, labyrinth_input,
                               ssca2_input, vacation_input, yada_input>;
any_input make_input(std::string_view name, scale size, unsigned threads, uint64_t seed);

// Runs an application in one thread on a store that counts. Throws if its result is wrong.
load measure(const any_input& input);

}  // namespace scute::workloads::stamp
