// SPDX-License-Identifier: BSD-3-Clause
// file_bytes.hpp: all bytes of a file.
#pragma once

#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace scute_campaign {

using bytes = std::vector<std::byte>;

inline bytes contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  bytes all(in ? static_cast<size_t>(in.tellg()) : 0);
  in.seekg(0);
  in.read(reinterpret_cast<char*>(all.data()), static_cast<std::streamsize>(all.size()));
  if (!in) throw std::runtime_error("cannot read " + path);
  return all;
}

inline void store(const std::string& path, const bytes& all) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(all.data()), static_cast<std::streamsize>(all.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace scute_campaign
