// SPDX-License-Identifier: BSD-3-Clause
// image.hpp: a pool with known contents, at rest: the file, a
// copy of all its bytes in memory, and where everything lies in it, by the arithmetic of
// docs/reference/format.md and what the public interface says. Or a shielded file with the pool
// next to it, as the one sequence of bytes that both are to the library; each of its pages counts
// as an object.
#pragma once

#include "settings.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace scute_campaign {

// A header and the payload it vouches for.
struct fragment {
  uint64_t header = 0, payload = 0;
  uint32_t covered = 0;  // payload bytes under the checksum
  uint32_t beside = 0;   // others, which a repair of the header may write along
  uint32_t owner = 0;    // index of the object; or a structure
};
inline constexpr uint32_t structure = UINT32_MAX;

struct object {
  scute_oid oid = 0;
  uint64_t payload = 0, size = 0;
  uint32_t type = 0;
  uint32_t chunk = 0;  // index in the zone, of the first chunk if it has several
  uint32_t first = 0;  // index of its first fragment
};

struct layout {
  uint64_t file_size = 0, zone = 0, row_size = 0, rows = 0, parity = 0;
  uint64_t used_end = 0;  // file offset after the last chunk in use; zeros up to the parity
  std::vector<object> objects;
  // In the order of headers: 0 the zone descriptor, 1 the root anchor, from 2 on chunk headers;
  // then those of the objects.
  std::vector<fragment> fragments;
  uint32_t chunks = 0;

  uint64_t parity_begin() const noexcept { return zone + rows * row_size; }
  uint64_t parity_end() const noexcept { return parity_begin() + parity * row_size; }
};

class image {
 public:
  image(const settings& how, scute_protection level, uint32_t rows);
  ~image();
  image(const image&) = delete;
  image& operator=(const image&) = delete;

  const std::string& path() const noexcept { return path_; }  // of the pool
  // For a session that may repair it. As scute_open().
  int open(scute_pool** pool) const;
  const layout& where() const noexcept { return layout_; }
  bool is_shielded() const noexcept { return !user_file_.empty(); }
  // Whether the byte is of the shielded file itself.
  bool is_of_user_file(uint64_t offset) const noexcept;
  // The file's bytes, to be changed while no pool has it open.
  std::byte* bytes() noexcept { return file_; }
  // Their old content.
  const std::byte* original() const noexcept { return master_.data(); }
  // Restores the file to that.
  void restore();

 private:
  void make_pool(const settings& how, scute_protection level, const scute_options& options);
  void make_shielded(const settings& how, const scute_options& options);
  void populate(const settings& how, scute_pool* pool);
  void survey(scute_pool* pool, bool checksums);
  void divide();
  void map();
  void remove() noexcept;
  uint64_t user_begin() const noexcept { return layout_.objects.front().payload; }

  std::string path_;
  std::string user_file_;  // or empty
  layout layout_;
  std::vector<std::byte> master_;
  std::byte* file_ = nullptr;
};

}  // namespace scute_campaign
