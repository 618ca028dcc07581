// SPDX-License-Identifier: BSD-3-Clause
// The maps in Scute pools with speculative logging.
#include "workloads/model_suite.hpp"
#include "workloads/stages.hpp"

namespace scute::test {
INSTANTIATE_TYPED_TEST_SUITE_P(with_spec, map_model, every_kind_on<spec_stage>, case_name);
}  // namespace scute::test
