// SPDX-License-Identifier: BSD-3-Clause
#include "pool/loss_escape.hpp"

namespace scute::core::pool {

thread_local constinit loss_escape this_thread_escapes
    __attribute__((tls_model("initial-exec"))) = {};

void escape_loss(uint64_t page) noexcept {
  loss_escape& e = this_thread_escapes;
  if (e.way_out == nullptr) return;
  e.page = page;
  std::longjmp(*e.way_out, 1);
}

}  // namespace scute::core::pool
