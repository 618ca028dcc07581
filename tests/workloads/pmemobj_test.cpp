// SPDX-License-Identifier: BSD-3-Clause
// The maps in libpmemobj pools: the peer that benchmarks compare with runs the same, right code.
#ifdef SCUTE_TEST_HAVE_PMEMOBJ
#include "workloads/model_suite.hpp"
#include "workloads/pmemobj_stage.hpp"

namespace scute::test {
INSTANTIATE_TYPED_TEST_SUITE_P(in_pmemobj, map_model, every_kind_on<pmemobj_stage>, case_name);
}  // namespace scute::test
#endif
