// SPDX-License-Identifier: BSD-3-Clause
// A store's inventory (scute/pow.h).
#include "pow/inventory.hpp"

#include <cstring>

#include "c_api/pow/handles.hpp"

using namespace scute::core;
using namespace scute::core::c_api;

extern "C" {

int scute_pow_get_info(scute_pow* store, scute_pow_info* info) {
  return guarded_pow(store, [&] {
    pow::state& s = need(store).in->parts();
    scute_pow_info f{};
    f.segment_size = s.space->segment_size();
    f.segments = s.space->count();
    f.segments_free = s.space->free_count();
    f.file_size = pow::first_segment + f.segments * f.segment_size;
    f.max_size = pow::first_segment + s.space->most() * f.segment_size;
    f.live_bytes = s.space->live_bytes();
    f.used_bytes = s.space->used_bytes();
    f.memory = s.memory();
    f.session = s.head.session;
    for (uint32_t i = 0; i < pow::lanes_max; ++i) {
      const pow::lane* const l = s.find_lane(i);
      if (l == nullptr) continue;
      f.sections += l->batches.load(std::memory_order_relaxed);
      f.bytes_written += l->bytes_written.load(std::memory_order_relaxed);
      f.fences += l->w.count.fences.get();
      f.lines += l->w.count.lines.get();
    }
    f.cleaned_segments = s.count.cleaned_segments.load();
    f.cleaned_bytes = s.count.copied_bytes.load();
    f.recovered_records = store->in->recovered().records;
    f.recovered_dropped = store->in->recovered().batches_dropped;
    f.recovered_repaired = store->in->recovered().repaired;
    f.recovered_lost = store->in->recovered().lost;
    pow::for_each_table(s, [&f](const pow::table_facts& t) {
      ++f.tables;
      f.objects += t.objects;
      f.object_bytes += t.bytes;
    });
    for (uint32_t i = 0; i < s.space->count(); ++i) {
      const pow::segment_note& n = s.space->note(i);
      f.groups += n.what.load() == pow::use::seal;
      f.segments_sealed += n.seal.load() != pow::nowhere;
    }
    std::memcpy(f.uuid, s.head.uuid, sizeof f.uuid);
    f.clean = store->in->was_clean();
    f.protection = static_cast<scute_pow_protection>(s.head.protect);
    f.medium = static_cast<scute_medium>(s.medium->what());
    copy_out(info, f, "info");
  });
}

int scute_pow_list_tables(scute_pow* store, void (*fn)(void*, const scute_pow_table_info*),
                          void* arg) {
  return guarded_pow(store, [&] {
    pow::state& s = need(store).in->parts();
    if (fn == nullptr) throw failure(SCUTE_E_INVALID, "fn is null");
    pow::for_each_table(s, [&](const pow::table_facts& t) {
      const scute_pow_table_info i{sizeof i, t.name.c_str(), t.number, t.type,
                                   t.size,   t.objects,      t.bytes};
      fn(arg, &i);
    });
  });
}

int scute_pow_list_segments(scute_pow* store, void (*fn)(void*, const scute_pow_segment_info*),
                            void* arg) {
  return guarded_pow(store, [&] {
    pow::state& s = need(store).in->parts();
    if (fn == nullptr) throw failure(SCUTE_E_INVALID, "fn is null");
    pow::for_each_segment(s, [&](const pow::segment_facts& x) {
      const scute_pow_segment_info i{sizeof i,
                                     x.offset,
                                     x.number,
                                     static_cast<scute_pow_use>(x.what),
                                     x.lane,
                                     x.session,
                                     x.generation,
                                     x.live,
                                     x.group == pow::nowhere ? SCUTE_POW_NO_SEGMENT : x.group};
      fn(arg, &i);
    });
  });
}

}  // extern "C"
