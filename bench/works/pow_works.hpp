// SPDX-License-Identifier: BSD-3-Clause
// Workloads that are about persist-on-write files alone.
#pragma once

#include "works/works.hpp"

namespace scute::bench {

work_group pow_recovery_work();
work_group pow_clean_work();
work_group eadr_work();

}  // namespace scute::bench
