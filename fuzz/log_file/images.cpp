// SPDX-License-Identifier: BSD-3-Clause
#include "images.hpp"

#include <cstring>

#include "core/log/segment.hpp"
#include "core/shared/pool/superblock.hpp"
#include "spec_log.hpp"

namespace scute::fuzz {
namespace {

scute_options options_of(const level& l) {
  scute_options o = options(l, 512 * kib);
  o.log_cap = 64 * kib;
  return o;
}

void checked(int e, const char* what) {
  if (e != SCUTE_OK)
    throw failure(static_cast<scute_error>(e), std::string(what) + ": " + scute_errormsg());
}

void describe(log_image& image) {
  format::superblock sb;
  std::memcpy(&sb, image.pool.data(), sizeof sb);
  image.clean = sb.clean != 0;
  image.salt = pool::pool_salt(sb);
  image.epoch = sb.epoch;
  format::log_file_head h;
  std::memcpy(&h, image.log.data(), sizeof h);
  image.segment_size = h.segment_size;
  image.chunk_size = h.chunk_size;
  image.two_copies = h.redundancy == static_cast<uint32_t>(log::redundancy::two_copies);
  image.checked = sb.protection == SCUTE_PROTECT_MLPC;
}

void make_level(std::vector<log_image>& all, const level& l) {
  const scute_options o = options_of(l);
  ram_file file;
  log_folder folder;
  bytes stranger;
  {
    file.load(bytes(o.size));
    log_pool p(file, folder, &o, false, 2);
    for (size_t i = 0; i < log_objects; ++i) alloc(p.handle(), size_of_object(i), 7);
    stranger = folder.named->content();
    p.abandon();
  }
  folder = {};
  file.load(bytes(o.size));
  std::vector<uint64_t> oids;
  {
    log_pool p(file, folder, &o);
    for (size_t i = 0; i < log_objects; ++i)
      oids.push_back(alloc(p.handle(), size_of_object(i), 1));
    p.close();
  }
  const bytes earlier = folder.named->content();
  log_image drained{}, killed{}, open{}, closed{};
  bytes middle;
  {
    log_pool p(file, folder, nullptr);
    write_version(p.handle(), oids, 2);
    // More than one segment, and some of it void.
    p.in().drain();
    drained.pool = file.content();
    write_version(p.handle(), oids, 2);
    write_version(p.handle(), oids, newest_version);
    middle = folder.named->content();
    drained.log = killed.log = folder.named->content();
    killed.pool = file.content();
    scute_tx* tx = nullptr;
    need(scute_tx_begin(p.handle(), &tx) == 0, "begin");
    paint_in_place(tx, oids[4], 10, 900, 96, "in place");
    open.pool = file.content();
    open.log = folder.named->content();
    need(scute_tx_abort(tx) == 0, "abort");
    p.in().drain();
    p.close();
    closed.pool = file.content();
    closed.log = folder.named->content();
  }
  const bytes later = folder.named->content();
  const auto add = [&](log_image& image, const char* name) {
    image.name = std::string(l.name) + " " + name;
    describe(image);
    image.others = {{"of another pool", stranger}, {"of an earlier session", earlier}};
    if (image.clean)
      image.middle = middle;
    else
      image.others.emplace_back("of a later moment", later);
    all.push_back(std::move(image));
  };
  add(drained, "power failure");
  add(killed, "killed");
  add(open, "killed with a range in place");
  add(closed, "closed");
}

}  // namespace

const std::vector<log_image>& log_images() {
  static const std::vector<log_image> all = [] {
    std::vector<log_image> made;
    for (const level& l : spec_levels) make_level(made, l);
    return made;
  }();
  return all;
}

std::vector<uint64_t> objects_of(scute_pool* pool) {
  std::vector<uint64_t> found(log_objects, SCUTE_OID_NULL);
  scute_oid oid = SCUTE_OID_NULL;
  for (int e = scute_first(pool, type_plain, &oid); e == SCUTE_OK && oid != SCUTE_OID_NULL;
       e = scute_next(pool, oid, type_plain, &oid)) {
    uint64_t n = 0;
    if (scute_object_info(pool, oid, &n, nullptr, nullptr) != SCUTE_OK) continue;
    for (size_t i = 0; i < log_objects; ++i)
      if (n == size_of_object(i)) found[i] = oid;
  }
  return found;
}

void write_object(scute_pool* pool, const std::vector<uint64_t>& oids, size_t i, uint64_t version) {
  scute_tx* tx = nullptr;
  void* to = nullptr;
  checked(scute_tx_begin(pool, &tx), "begin");
  if (const int e = scute_tx_open(tx, oids[i], &to); e != SCUTE_OK) {
    scute_tx_abort(tx);
    checked(e, "open");
  }
  paint(to, size_of_object(i), version);
  checked(scute_tx_commit(tx), "commit");
}

void write_version(scute_pool* pool, const std::vector<uint64_t>& oids, uint64_t version) {
  for (size_t i = 0; i < oids.size(); ++i) write_object(pool, oids, i, version);
}

uint64_t version_of(size_t object, const void* at) {
  unsigned char wanted[size_of_object(log_objects)];
  for (uint64_t v = 1; v <= newest_version + 1; ++v) {
    paint(wanted, size_of_object(object), v);
    if (std::memcmp(wanted, at, size_of_object(object)) == 0) return v;
  }
  return 0;
}

log_pool::log_pool(ram_file& file, log_folder& folder, const scute_options* create, bool read_only,
                   unsigned char identity) {
  std::byte id[18];
  std::memset(id, identity, sizeof id);
  scute_options none;
  scute_options_init(&none);
  if (read_only) none.flags = SCUTE_READONLY;
  auto m = std::make_unique<ram_medium>(file, read_only);
  auto logs = std::make_unique<ram_place>(folder);
  auto made = std::make_unique<scute_pool>();
  if (create != nullptr) {
    made->in = instance::format(std::move(m), "image", *create, id, std::move(logs));
    made->in->name_log();
  } else {
    made->in = instance::attach(std::move(m), "image", none, std::move(logs));
  }
  handle_ = made.release();
}

log_pool::~log_pool() {
  abandon();
}

void log_pool::close() {
  const int e = scute_close(std::exchange(handle_, nullptr));
  if (e != SCUTE_OK) throw failure(static_cast<scute_error>(e), scute_errormsg());
}

void log_pool::abandon() noexcept {
  if (handle_ == nullptr) return;
  handle_->in->abandon();
  static_cast<void>(scute_close(std::exchange(handle_, nullptr)));
}

}  // namespace scute::fuzz
