// SPDX-License-Identifier: BSD-3-Clause
// Workloads that are about persist-on-write files alone.
#pragma once

#include "benchmarks/benchmarks.hpp"

namespace scute::bench {

benchmark_group pow_recovery_benchmark();
benchmark_group pow_clean_benchmark();
benchmark_group eadr_benchmark();

}  // namespace scute::bench
