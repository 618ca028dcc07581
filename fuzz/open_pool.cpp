// SPDX-License-Identifier: BSD-3-Clause
#include "open_pool.hpp"

#include <cstdio>
#include <cstdlib>

namespace scute::fuzz {

void need(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "fuzz: cannot make the base images (%s): %s\n", what, scute_errormsg());
  std::abort();
}

scute_options options(const level& l, uint64_t size) {
  scute_options o;
  scute_options_init(&o);
  o.size = size;
  o.protection = l.protection;
  o.checksum = l.checksum;
  o.engine = l.engine;
  o.lanes = l.tracks ? 1 : 3;
  o.rows = 4;
  o.chunk_size = (l.tracks ? 128 : 16) * kib;
  if (l.tracks) o.log_cap = 6 * o.chunk_size;
  o.layout = "fuzz";
  return o;
}

void paint(void* to, size_t n, uint64_t key) {
  auto* p = static_cast<unsigned char*>(to);
  for (size_t i = 0; i < n; ++i)
    p[i] = static_cast<unsigned char>((key * 131 + i * 7 + (i >> 8)) | 1);
}

void paint_in_place(scute_tx* tx, uint64_t oid, uint64_t offset, size_t n, uint64_t key,
                    const char* what) {
  void* to = nullptr;
  need(scute_tx_inplace(tx, oid, offset, n, &to) == 0, what);
  paint(to, n, key);
}

uint64_t alloc(scute_pool* pool, size_t n, uint64_t key) {
  scute_tx* tx = nullptr;
  scute_oid oid = 0;
  void* to = nullptr;
  need(scute_tx_begin(pool, &tx) == 0 && scute_tx_alloc(tx, n, type_plain, &oid, &to) == 0,
       "alloc");
  paint(to, n, key);
  need(scute_tx_commit(tx) == 0, "commit");
  return oid;
}

std::vector<uint64_t> populate(open_pool& p) {
  std::vector<uint64_t> oids;
  uint64_t key = 1;
  for (const size_t n : {10, 100, 100, 1000, 4096, 5000, 9000, 20000})
    oids.push_back(alloc(p.handle(), n, key++));
  p.root->fill();
  scute_tx* tx = nullptr;
  need(scute_tx_begin(p.handle(), &tx) == 0 && scute_tx_free(tx, oids[1]) == 0 &&
           scute_tx_commit(tx) == 0,
       "free");
  oids.erase(oids.begin() + 1);
  return oids;
}

bytes make_clean(ram_file& file, const level& l, bool populated) {
  const uint64_t log = l.engine == SCUTE_ENGINE_SPEC ? 256 * kib : 0;
  const scute_options o = options(l, (populated ? 512 * kib : 256 * kib) + log);
  file.load(bytes(o.size));
  open_pool p(file, &o);
  if (populated) populate(p);
  need(p.root->close(), "close");
  return file.content();
}

bytes half_way(const bytes& from, const bytes& to) {
  bytes made = from;
  bool take = false;
  for (size_t at = 0; at + 8 <= from.size(); at += 8) {
    if (std::memcmp(from.data() + at, to.data() + at, 8) == 0) continue;
    take = !take;
    if (take) std::memcpy(made.data() + at, to.data() + at, 8);
  }
  return made;
}

}  // namespace scute::fuzz
