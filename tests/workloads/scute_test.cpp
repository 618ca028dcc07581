// SPDX-License-Identifier: BSD-3-Clause
// The maps in Scute pools, fully protected, with each engine.
#include "workloads/model_suite.hpp"
#include "workloads/stages.hpp"

namespace scute::test {
INSTANTIATE_TYPED_TEST_SUITE_P(with_redo, map_model, every_kind_on<redo_stage>, case_name);
INSTANTIATE_TYPED_TEST_SUITE_P(with_logfree, map_model, every_kind_on<logfree_stage>, case_name);
}  // namespace scute::test
