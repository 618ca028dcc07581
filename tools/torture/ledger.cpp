// SPDX-License-Identifier: BSD-3-Clause
#include "ledger.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace scute_torture {

void ledger::fail(const std::string& why) noexcept {
  if (reported_.exchange(true)) return;  // the first reason is the one that counts
  std::memcpy(story_.data(), why.data(), std::min(why.size(), story_.size() - 1));
  failed = true;
}

ledger& ledger::make() {
  // Anonymous memory is zeros, and zeros are how every atomic here begins. Pages that no writer
  // touches cost nothing.
  void* at = mmap(nullptr, sizeof(ledger), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    throw std::runtime_error("cannot map shared memory: " + std::generic_category().message(errno));
  return *static_cast<ledger*>(at);
}

}  // namespace scute_torture
