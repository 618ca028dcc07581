// SPDX-License-Identifier: BSD-3-Clause
#include "drill.hpp"

#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>

namespace scute_torture {

namespace {

constexpr uint64_t offset_mask = 0x0000'ffff'ffff'ffff;

// Some object that a writer says is its own, if one has any. A small one: opening a pool verifies,
// and so repairs, the first fragment of each object that has chunks of its own, before the drill
// can be noticed.
std::optional<scute_oid> victim(const scute::pool& pool, const cast& actors) {
  constexpr uint64_t small = 1000;
  for (size_t i = 0; i < actors.size(); ++i) {
    const auto owned = actors[i].owned(pool);
    for (auto oid = owned.rbegin(); oid != owned.rend(); ++oid) {
      uint64_t size = 0;
      if (scute_object_info(pool.native_handle(), *oid, &size, nullptr, nullptr) == SCUTE_OK &&
          size <= small)
        return *oid;
    }
  }
  return {};
}

// The bytes of parity over a byte of a zone.
std::vector<uint64_t> parity_of(const scute::pool& pool, uint64_t offset) {
  scute_location at{};
  at.struct_size = sizeof at;
  scute::detail::check(scute_locate(pool.native_handle(), offset, &at));
  const auto info = pool.info();
  std::vector<uint64_t> found(info.parity);
  for (uint64_t p = 0; p < found.size(); ++p)
    scute::detail::check(
        scute_offset_of(pool.native_handle(), at.zone, info.rows + p, at.column, &found[p]));
  return found;
}

void flip(const std::string& path, uint64_t offset, char bits) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(static_cast<std::streamoff>(offset));
  const char byte = static_cast<char>(file.get() ^ bits);
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(byte);
  if (!file.flush()) throw std::runtime_error("cannot spoil " + path);
}

}  // namespace

const std::vector<std::string>& drills() {
  static const std::vector<std::string> all{"stale", "byte",  "column", "write",
                                            "extra", "hoard", "lock"};
  return all;
}

bool spoil(const std::string& drill, const std::string& path, const std::string& earlier,
           const scute::options& how, const cast& actors) {
  if (drill == "stale") {
    std::filesystem::copy_file(earlier, path, std::filesystem::copy_options::overwrite_existing);
    return true;
  }
  if (drill == "hoard" || drill == "lock") return true;
  scute_oid oid = 0;
  std::vector<uint64_t> parity;
  {
    auto pool = scute::pool::open(path, how);
    actors.find_roots(pool);
    const auto found = victim(pool, actors);
    if (!found) return false;
    oid = *found;
    if (drill == "byte") pool.wait_for_recovery();
    if (drill == "column") parity = parity_of(pool, oid & offset_mask);
    if (drill == "write")
      pool.transact([&](scute::tx& tx) { *tx.edit_bytes(oid, 0, 1) ^= std::byte{0x10}; });
    if (drill == "extra")
      pool.transact([&](scute::tx& tx) { tx.allocate(100, pool.type_of(scute::ptr<char>(oid))); });
  }
  // Not the same bits: neither what is stored nor what the others make of it may be right.
  if (drill == "byte" || drill == "column") flip(path, oid & offset_mask, 0x10);
  for (const uint64_t offset : parity) flip(path, offset, 0x20);
  return true;
}

void hoard(const scute::pool& pool) {
  pool.transact([&](scute::tx& tx) { tx.allocate(100, 0x4000); });
}

}  // namespace scute_torture
