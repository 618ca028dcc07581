// SPDX-License-Identifier: BSD-3-Clause
#include "scenarios/directory.hpp"

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace scute::explore {
namespace {

using scute::detail::check;

constexpr uint32_t type_root = 1, type_directory = 2, type_bytes = 3;

scute_oid directory_of(scute::pool& p, unsigned thread) {
  scute_oid root = SCUTE_OID_NULL;
  check(scute_root(p.native_handle(), 0, type_root, &root));
  const void* bytes = nullptr;
  check(scute_get_verified(p.native_handle(), root, &bytes));
  return static_cast<const directories*>(bytes)->of_thread[thread];
}

const directory& read(scute::pool& p, scute_oid oid) {
  const void* bytes = nullptr;
  check(scute_get_verified(p.native_handle(), oid, &bytes));
  return *static_cast<const directory*>(bytes);
}

uint64_t size_of(scute::pool& p, scute_oid oid) {
  uint64_t size = 0;
  check(scute_object_info(p.native_handle(), oid, &size, nullptr, nullptr));
  return size;
}

}  // namespace

void fill_bytes(void* to, uint64_t n, unsigned fill) noexcept {
  auto* out = static_cast<unsigned char*>(to);
  uint64_t x = fill * 0x9e3779b97f4a7c15u + 1;
  for (uint64_t i = 0; i < n; ++i) {
    if (i % 8 == 0) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
    }
    out[i] = static_cast<unsigned char>(x >> i % 8 * 8);
  }
}

void make_directories(scute::pool& p) {
  scute_oid root = SCUTE_OID_NULL;
  check(scute_root(p.native_handle(), sizeof(directories), type_root, &root));
  scute_tx* tx = nullptr;
  check(scute_tx_begin(p.native_handle(), &tx));
  void* bytes = nullptr;
  check(scute_tx_open(tx, root, &bytes));
  for (scute_oid& d : static_cast<directories*>(bytes)->of_thread) {
    void* fresh = nullptr;
    check(scute_tx_alloc(tx, sizeof(directory), type_directory, &d, &fresh));
  }
  check(scute_tx_commit(tx));
}

change::change(scute::pool& p, unsigned thread) : pool_(p), directory_(directory_of(p, thread)) {
  check(scute_tx_begin(p.native_handle(), &tx_));
}

change::~change() {
  if (tx_ != nullptr) scute_tx_abort(tx_);
}

scute_oid change::oid(uint64_t slot) const {
  const void* bytes = nullptr;
  check(scute_tx_get_range(tx_, directory_, slot * sizeof(scute_oid), sizeof(scute_oid), &bytes));
  scute_oid o = SCUTE_OID_NULL;
  std::memcpy(&o, bytes, sizeof o);
  return o;
}

bool change::has(uint64_t slot) const {
  return oid(slot) != SCUTE_OID_NULL;
}

uint64_t change::size(uint64_t slot) const {
  return size_of(pool_, oid(slot));
}

void* change::alloc_zeros(uint64_t slot, uint64_t n) {
  scute_oid fresh = SCUTE_OID_NULL;
  void *bytes = nullptr, *entry = nullptr;
  check(scute_tx_alloc(tx_, n, type_bytes, &fresh, &bytes));
  check(scute_tx_add_range(tx_, directory_, slot * sizeof(scute_oid), sizeof(scute_oid), &entry));
  std::memcpy(entry, &fresh, sizeof fresh);
  return bytes;
}

void change::alloc(uint64_t slot, uint64_t n, unsigned fill) {
  fill_bytes(alloc_zeros(slot, n), n, fill);
}

void change::free(uint64_t slot) {
  void* entry = nullptr;
  check(scute_tx_free(tx_, oid(slot)));
  check(scute_tx_add_range(tx_, directory_, slot * sizeof(scute_oid), sizeof(scute_oid), &entry));
  std::memset(entry, 0, sizeof(scute_oid));
}

void change::overwrite(uint64_t slot, unsigned fill) {
  const scute_oid o = oid(slot);
  const uint64_t n = size_of(pool_, o);
  void* bytes = nullptr;
  check(scute_tx_open(tx_, o, &bytes));
  fill_bytes(bytes, n, fill);
}

void change::touch(uint64_t slot, uint64_t n, unsigned fill) {
  void* bytes = nullptr;
  check(scute_tx_open(tx_, oid(slot), &bytes));
  fill_bytes(bytes, n, fill);
}

void change::edit(uint64_t slot, uint64_t at, uint64_t length, unsigned fill) {
  void* bytes = nullptr;
  check(scute_tx_add_range(tx_, oid(slot), at, length, &bytes));
  fill_bytes(bytes, length, fill);
}

void change::edit_in_place(uint64_t slot, uint64_t at, uint64_t length, unsigned fill) {
  void* bytes = nullptr;
  check(scute_tx_inplace(tx_, oid(slot), at, length, &bytes));
  fill_bytes(bytes, length, fill);
}

void change::commit() {
  scute_tx* tx = tx_;
  tx_ = nullptr;
  check(scute_tx_commit(tx));
}

void change::abort() {
  scute_tx* tx = tx_;
  tx_ = nullptr;
  check(scute_tx_abort(tx));
}

void commit(scute::pool& p, unsigned thread, const std::function<void(change&)>& body) {
  change c(p, thread);
  body(c);
  c.commit();
}

scute_oid oid_of(scute::pool& p, unsigned thread, uint64_t slot) {
  return read(p, directory_of(p, thread)).objects[slot];
}

uint64_t offset_of(scute::pool& p, unsigned thread, uint64_t slot) {
  return oid_of(p, thread, slot) & 0xffff'ffff'ffffu;  // the low bits of an oid
}

void expect(scute::pool& p, unsigned thread, uint64_t slot, uint64_t at, uint64_t length,
            unsigned fill) {
  const void* bytes = nullptr;
  check(scute_get_verified(p.native_handle(), oid_of(p, thread, slot), &bytes));
  std::vector<unsigned char> wanted(length);
  fill_bytes(wanted.data(), length, fill);
  if (std::memcmp(static_cast<const unsigned char*>(bytes) + at, wanted.data(), length) != 0)
    throw std::runtime_error("object " + std::to_string(slot) + " does not hold, from byte " +
                             std::to_string(at) + " on, what was written there");
}

testing::scenario with_directories(const std::string& name, testing::pool_kind protection,
                                   unsigned threads) {
  testing::scenario s(name, testing::small_pool(protection));
  for (unsigned t = 0; t < threads; ++t)
    s.in_thread(t).observe([t](scute::pool& p) { return contents(p, t); });
  return s;
}

std::string contents(scute::pool& p, unsigned thread) {
  const directory& d = read(p, directory_of(p, thread));
  std::string text;
  for (uint64_t i = 0; i < slots; ++i) {
    if (d.objects[i] == SCUTE_OID_NULL) continue;
    const uint64_t n = size_of(p, d.objects[i]);
    const void* bytes = nullptr;
    check(scute_get_verified(p.native_handle(), d.objects[i], &bytes));
    uint64_t hash = 0xcbf29ce484222325u;
    const auto* b = static_cast<const unsigned char*>(bytes);
    uint64_t k = 0;
    for (; k + 8 <= n; k += 8) {
      uint64_t word = 0;
      std::memcpy(&word, b + k, 8);
      hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
    for (; k < n; ++k) hash = (hash ^ b[k]) * 0x100000001b3u;
    char line[64];
    std::snprintf(line, sizeof line, "%s%llu:%llu=%08x", text.empty() ? "" : " ",
                  static_cast<unsigned long long>(i), static_cast<unsigned long long>(n),
                  static_cast<unsigned>(hash >> 32 ^ hash));
    text += line;
  }
  return text.empty() ? "(empty)" : text;
}

}  // namespace scute::explore
