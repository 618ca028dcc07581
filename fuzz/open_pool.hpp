// SPDX-License-Identifier: BSD-3-Clause
// Pools in memory that base images are made of (base_image.hpp).
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "base_image.hpp"
#include "c_api/pool/guard.hpp"
#include "containers.hpp"

namespace scute::fuzz {
using namespace core;

inline constexpr uint64_t kib = 1024;

struct level {
  const char* name;
  scute_protection protection;
  scute_checksum checksum;
  scute_engine engine = SCUTE_ENGINE_REDO;
  // of engine spec: a log of eight tracks and their XOR, which smaller pools do not have
  bool tracks = false;
};

// A base image that cannot be made is a bug in this folder or in the library.
void need(bool ok, const char* what);
scute_options options(const level& l, uint64_t size);
void paint(void* to, size_t n, uint64_t key);
// Bytes [offset, offset + n) of the object are in place from now on, and painted.
void paint_in_place(scute_tx* tx, uint64_t oid, uint64_t offset, size_t n, uint64_t key,
                    const char* what);

// An open pool on a file in memory.
class open_pool {
 public:
  open_pool(ram_file& file, const scute_options* create) {
    auto m = std::make_unique<ram_medium>(file);
    medium = m.get();
    auto made = std::make_unique<scute_pool>();
    static constexpr unsigned char identity[18] = {'s', 'c', 'u', 't', 'e', ' ', 'f', 'u',  'z',
                                                   'z', 'i', 'n', 'g', ' ', '0', '1', 0x5c, 0x7e};
    scute_options none;
    scute_options_init(&none);
    made->in = create != nullptr ? instance::format(std::move(m), "image", *create,
                                                    reinterpret_cast<const std::byte*>(identity))
                                 : instance::attach(std::move(m), "image", none);
    handle_ = made.release();
    root = std::make_unique<containers>(handle_);
  }
  scute_pool* handle() const { return handle_; }

  ram_medium* medium = nullptr;
  std::unique_ptr<containers> root;  // owns the pool

 private:
  scute_pool* handle_ = nullptr;
};

uint64_t alloc(scute_pool* pool, size_t n, uint64_t key);
// Makes the content of all images except the empty ones. Returns the oids of the plain objects.
std::vector<uint64_t> populate(open_pool& p);
// A new pool, closed.
bytes make_clean(ram_file& file, const level& l, bool populated);
// `from`, with every other word in which `to` differs from it.
bytes half_way(const bytes& from, const bytes& to);

}  // namespace scute::fuzz
