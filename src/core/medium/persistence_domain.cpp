// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <fstream>
#include <string>

#include "core/medium/mapped_medium.hpp"

namespace scute::core::medium {

bool detect_eadr() noexcept {
  // Documented in the kernel's ABI for the nd bus: persistence_domain is "cpu_cache" with eADR,
  // "memory_controller" with ADR.
  std::error_code ec;
  int regions = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/bus/nd/devices", ec)) {
    if (entry.path().filename().string().rfind("region", 0) != 0) continue;
    std::ifstream in(entry.path() / "persistence_domain");
    std::string domain;
    if (!(in >> domain) || domain != "cpu_cache") return false;
    ++regions;
  }
  return regions > 0;
}

}  // namespace scute::core::medium
