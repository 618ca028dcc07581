// SPDX-License-Identifier: BSD-3-Clause
// The maps in plain DRAM. Under AddressSanitizer, memory that clear() does not free is a leak.
#include "workloads/model_suite.hpp"
#include "workloads/stages.hpp"

namespace scute::test {
INSTANTIATE_TYPED_TEST_SUITE_P(in_dram, map_model, every_kind_on<volatile_stage>, case_name);
}  // namespace scute::test
