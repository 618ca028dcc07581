// SPDX-License-Identifier: BSD-3-Clause
#include "systems/file_system.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fstream>
#include <sstream>

namespace scute::bench {

std::string file_system_of(const std::string& dir) {
  struct stat st{};
  if (::stat(dir.c_str(), &st) != 0) return "unknown";
  const std::string device = fmt::format("{}:{}", major(st.st_dev), minor(st.st_dev));
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    std::string id, parent, dev;
    fields >> id >> parent >> dev;
    const auto end_of_options = line.find(" - ");
    if (dev != device || end_of_options == std::string::npos) continue;
    std::istringstream kind(line.substr(end_of_options + 3));
    std::string name;
    kind >> name;
    return name;
  }
  return "unknown";
}

}  // namespace scute::bench
