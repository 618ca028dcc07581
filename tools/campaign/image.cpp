// SPDX-License-Identifier: BSD-3-Clause
#include "image.hpp"

#include "check_call.hpp"
#include "dice.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <system_error>

namespace scute_campaign {

using namespace scute_tools;

namespace {

constexpr uint64_t page = 4096, header_size = 32, fragment_payload = 4096;
constexpr uint64_t chunk_table = 4096, metadata_size = 64;
constexpr uint64_t object_min = 32, object_max = uint64_t{64} << 10;

constexpr uint64_t headers_of(uint64_t room) {  // of a slot or span
  return (room + fragment_payload + header_size - 1) / (fragment_payload + header_size);
}

}  // namespace

image::image(const settings& how, scute_protection level, uint32_t rows)
    : path_(fmt::format("{}/{}-{}-{}.pool", how.folder, level_names[static_cast<size_t>(level)],
                        rows, getpid())) {
  scute_options options;
  scute_options_init(&options);
  options.size = how.size;
  options.protection = level;
  how.kind.apply(level, options);
  options.rows = rows;
  scute_pool* pool = nullptr;
  need(scute_create(path_.c_str(), &options, &pool));
  try {
    populate(how, pool);
    survey(pool, level == SCUTE_PROTECT_MLPC);
  } catch (...) {
    scute_close(pool);
    unlink(path_.c_str());
    throw;
  }
  need(scute_close(pool));
  const int fd = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  void* at =
      fd < 0 ? MAP_FAILED
             : mmap(nullptr, how.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  const int error = errno;
  if (fd >= 0) close(fd);
  if (at == MAP_FAILED) throw std::system_error(error, std::generic_category(), path_);
  file_ = static_cast<std::byte*>(at);
  master_.assign(file_, file_ + how.size);
  // The model: contents that follow from the seed.
  std::vector<std::byte> want(object_max);
  for (const object& o : layout_.objects) {
    fill(want.data(), mix(how.seed, o.type), o.size);
    if (std::memcmp(want.data(), original() + o.payload, o.size) != 0)
      throw std::runtime_error("an object is not what was stored");
  }
}

image::~image() {
  if (file_ != nullptr) munmap(file_, master_.size());
  unlink(path_.c_str());
}

void image::restore() {
  for (uint64_t at = 0; at < master_.size(); at += page)
    if (std::memcmp(file_ + at, &master_[at], page) != 0)
      std::memcpy(file_ + at, &master_[at], page);
}

// Objects from 32 bytes to 64 KiB until three quarters of the chunks are in use, or no room is left; then
// some of them go.
void image::populate(const settings& how, scute_pool* pool) {
  dice random(mix(how.seed, 0x0b7ec75));
  std::vector<scute_oid> made;
  need(scute_root(pool, 64, 0, &made.emplace_back()));
  const auto change = [&](auto&& body) {
    scute_tx* tx = nullptr;
    need(scute_tx_begin(pool, &tx));
    body(tx);
    need(scute_tx_commit(tx));
  };
  change([&](scute_tx* tx) {
    void* to = nullptr;
    need(scute_tx_open(tx, made[0], &to));
    fill(static_cast<std::byte*>(to), mix(how.seed, 0), 64);
  });
  for (uint32_t type = 1;; ++type) {
    scute_info info = sized<scute_info>();
    need(scute_pool_info(pool, &info));
    if (!how.full && info.chunks_free * 4 <= info.chunk_count) break;
    const uint64_t n = random.size(object_min, object_max);
    bool room = true;
    change([&](scute_tx* tx) {
      scute_oid oid = SCUTE_OID_NULL;
      void* to = nullptr;
      const int code = scute_tx_alloc(tx, n, type, &oid, &to);
      room = !how.full || code != SCUTE_E_NOSPC;
      if (!room) return;
      need(code);
      made.push_back(oid);
      fill(static_cast<std::byte*>(to), mix(how.seed, type), n);
    });
    if (!room) break;
  }
  for (size_t i = 1; i < made.size(); ++i)
    if (random.one_in(10)) change([&](scute_tx* tx) { need(scute_tx_free(tx, made[i])); });
}

void image::survey(scute_pool* pool, bool checksums) {
  scute_info info = sized<scute_info>();
  need(scute_pool_info(pool, &info));
  if (info.zone_count != 1) throw std::runtime_error("the campaign wants pools of one zone");
  layout& l = layout_;
  l.file_size = info.size;
  l.row_size = info.row_size;
  l.rows = info.rows;
  l.parity = info.parity;
  need(scute_offset_of(pool, 0, 0, 0, &l.zone));

  std::map<uint64_t, scute_chunk_info> chunks;  // by offset
  need(scute_visit_chunks(
      pool,
      [](void* arg, const scute_chunk_info* c) {
        static_cast<std::map<uint64_t, scute_chunk_info>*>(arg)->emplace(c->offset, *c);
        return 0;
      },
      &chunks));
  l.chunks = static_cast<uint32_t>(chunks.size());
  l.used_end = chunks.rbegin()->first + info.chunk_size;
  const auto add_structure = [&](uint64_t header) {
    l.fragments.push_back(
        {header, header + header_size, metadata_size - header_size, 0, structure});
  };
  add_structure(l.zone);
  add_structure(l.zone + metadata_size);
  for (uint32_t i = 0; i < l.chunks; ++i) add_structure(l.zone + chunk_table + metadata_size * i);

  const auto add = [&](uint64_t header, uint64_t payload, uint32_t n) {
    l.fragments.push_back({header, payload, checksums ? n : 0, checksums ? 0 : n,
                           static_cast<uint32_t>(l.objects.size())});
  };
  scute_oid oid = SCUTE_OID_NULL;
  need(scute_first(pool, SCUTE_TYPE_ANY, &oid));
  for (; oid != SCUTE_OID_NULL; need(scute_next(pool, oid, SCUTE_TYPE_ANY, &oid))) {
    object o;
    o.oid = oid;
    o.payload = oid & 0xffff'ffff'ffffu;
    need(scute_object_info(pool, oid, &o.size, nullptr, &o.type));
    const scute_chunk_info& c = std::prev(chunks.upper_bound(o.payload))->second;
    o.chunk = static_cast<uint32_t>(c.chunk);
    o.first = static_cast<uint32_t>(l.fragments.size());
    const bool run = c.slot_size != 0;
    const uint64_t room = run ? c.slot_size : c.length * info.chunk_size;
    uint64_t header = run ? c.offset + (o.payload - c.offset) / room * room : c.offset;
    if (header + headers_of(room) * header_size != o.payload)
      throw std::runtime_error("an object is not where docs/format.md says");
    for (uint64_t at = 0; at < o.size; at += fragment_payload, header += header_size)
      add(header, o.payload + at, static_cast<uint32_t>(std::min(fragment_payload, o.size - at)));
    l.objects.push_back(o);
  }
}

}  // namespace scute_campaign
