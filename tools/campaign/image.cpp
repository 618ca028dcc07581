// SPDX-License-Identifier: BSD-3-Clause
#include "image.hpp"

#include "check_call.hpp"
#include "dice.hpp"
#include "file_bytes.hpp"

#include <scute/shield.h>

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

image::image(const settings& how, scute_protection level, uint32_t rows) {
  scute_options options;
  scute_options_init(&options);
  options.protection = level;
  how.kind.apply(level, options);
  options.rows = rows;
  const std::string name = fmt::format("{}/{}-{}-{}", how.folder,
                                       level_names[static_cast<size_t>(level)], rows, getpid());
  if (how.shielded) {
    user_file_ = name + ".file";
    path_ = user_file_ + ".scute";
  } else {
    path_ = name + ".pool";
  }
  try {
    how.shielded ? make_shielded(how, options) : make_pool(how, level, options);
    map();
  } catch (...) {
    remove();
    throw;
  }
  // The model: contents that follow from the seed.
  std::vector<std::byte> want(how.shielded ? how.size : object_max);
  if (how.shielded) fill(want.data(), how.seed, how.size);
  for (const object& o : layout_.objects) {
    if (!how.shielded) fill(want.data(), mix(how.seed, o.type), o.size);
    const std::byte* const stored = want.data() + (how.shielded ? o.payload - user_begin() : 0);
    if (std::memcmp(stored, original() + o.payload, o.size) != 0)
      throw std::runtime_error("an object is not what was stored");
  }
}

image::~image() {
  if (file_ != nullptr) munmap(file_, master_.size());
  remove();
}

void image::remove() noexcept {
  unlink(path_.c_str());
  if (is_shielded()) unlink(user_file_.c_str());
}

void image::make_pool(const settings& how, scute_protection level, const scute_options& options) {
  scute_options sized_options = options;
  sized_options.size = how.size;
  scute_pool* pool = nullptr;
  need(scute_create(path_.c_str(), &sized_options, &pool));
  try {
    populate(how, pool);
    survey(pool, level == SCUTE_PROTECT_MLPC);
  } catch (...) {
    scute_close(pool);
    throw;
  }
  need(scute_close(pool));
}

// Without room to grow, which need not be saved.
void image::make_shielded(const settings& how, const scute_options& options) {
  scute_campaign::bytes content(how.size);
  fill(content.data(), how.seed, content.size());
  store(user_file_, content);
  need(scute_shield_add(user_file_.c_str(), &options, how.size, 0));
  scute_pool* pool = nullptr;
  need(scute_shield_open(user_file_.c_str(), nullptr, &pool));
  try {
    survey(pool, true);
    divide();
  } catch (...) {
    scute_close(pool);
    throw;
  }
  need(scute_close(pool));
}

// A page of the user's file is an object of one fragment; but it is not examined while the first
// one is lost, which is what `first` says.
void image::divide() {
  layout& l = layout_;
  if (l.objects.size() != 1) throw std::runtime_error("a shielded file is not one object");
  const object all = l.objects.front();
  l.objects.clear();
  for (uint64_t at = 0; at < all.size; at += page) {
    object o = all;
    o.payload = all.payload + at;
    o.size = std::min(page, all.size - at);
    l.fragments[all.first + at / page].owner = static_cast<uint32_t>(l.objects.size());
    l.objects.push_back(o);
  }
}

bool image::is_of_user_file(uint64_t offset) const noexcept {
  return is_shielded() && offset >= user_begin() &&
         offset < layout_.objects.back().payload + layout_.objects.back().size;
}

int image::open(scute_pool** pool) const {
  if (!is_shielded()) return scute_open(path_.c_str(), nullptr, pool);
  // The times of the file say, rightly, that it was written to. That is no reason to believe it.
  scute_options options;
  scute_options_init(&options);
  options.flags |= SCUTE_DAMAGED;
  return scute_shield_open(user_file_.c_str(), &options, pool);
}

// Both files as the library sees them: the user's where its bytes are in the pool.
void image::map() {
  const auto mapped = [](const std::string& path, void* at, uint64_t n, int how) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    void* const got =
        fd < 0 ? MAP_FAILED
               : mmap(at, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE | how, fd, 0);
    const int error = errno;
    if (fd >= 0) close(fd);
    if (got == MAP_FAILED) throw std::system_error(error, std::generic_category(), path);
    return static_cast<std::byte*>(got);
  };
  file_ = mapped(path_, nullptr, layout_.file_size, 0);
  master_.resize(layout_.file_size);
  if (is_shielded())
    mapped(user_file_, file_ + user_begin(),
           layout_.objects.back().payload + layout_.objects.back().size - user_begin(), MAP_FIXED);
  master_.assign(file_, file_ + layout_.file_size);
}

void image::restore() {
  for (uint64_t at = 0; at < master_.size(); at += page)
    if (std::memcmp(file_ + at, &master_[at], page) != 0)
      std::memcpy(file_ + at, &master_[at], page);
}

// Objects from 32 bytes to 64 KiB until three quarters of the chunks are in use, or no room is
// left; then some of them go.
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
  if (info.zone_count != 1) throw std::runtime_error("the campaign needs pools of one zone");
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
    auto at = std::prev(chunks.upper_bound(o.payload));
    // The headers of a large span may fill chunks of their own.
    const auto begins_there = [&](const scute_chunk_info& c) {
      const uint64_t span = c.length * info.chunk_size;
      return c.slot_size != 0 || (span > o.payload - c.offset &&
                                  c.offset + headers_of(span) * header_size == o.payload);
    };
    while (at != chunks.begin() && !begins_there(at->second)) --at;
    const scute_chunk_info& c = at->second;
    o.chunk = static_cast<uint32_t>(c.chunk);
    o.first = static_cast<uint32_t>(l.fragments.size());
    const bool run = c.slot_size != 0;
    const uint64_t room = run ? c.slot_size : c.length * info.chunk_size;
    uint64_t header = run ? c.offset + (o.payload - c.offset) / room * room : c.offset;
    if (header + headers_of(room) * header_size != o.payload)
      throw std::runtime_error("an object is not where docs/reference/format.md says");
    for (uint64_t i = 0; i < o.size; i += fragment_payload, header += header_size)
      add(header, o.payload + i, static_cast<uint32_t>(std::min(fragment_payload, o.size - i)));
    l.objects.push_back(o);
  }
}

}  // namespace scute_campaign
