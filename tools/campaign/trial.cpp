// SPDX-License-Identifier: BSD-3-Clause
#include "trial.hpp"

#include "check_call.hpp"
#include "dice.hpp"

#include <fmt/format.h>

#include <scute/shield.h>

#include <cstring>
#include <set>
#include <utility>

namespace scute_campaign {

using namespace scute_tools;

trial::trial(image& of, const settings& how, const cell& where)
    : image_(of), how_(how), where_(where), oracle_(of.where()) {}

// Until a session repairs nothing any more: an object that could not be rebuilt at first may be
// when other damage in its columns is gone, and a lost chunk is only looked for when the pool is
// opened.
void trial::repair(scute_pool*& pool) const {
  for (int session = 0; session < 20; ++session) {
    scute_report r = sized<scute_report>();
    need(scute_check(pool, 1, &r, nullptr, nullptr, nullptr));
    scute_info info = sized<scute_info>();
    // Fails if the zone descriptor is lost.
    const bool repaired_before = scute_pool_info(pool, &info) == SCUTE_OK && info.repaired != 0;
    if (r.lost == 0 || (r.repaired == 0 && (session != 0 || !repaired_before))) return;
    need(scute_close(std::exchange(pool, nullptr)));
    need(image_.open(&pool));
  }
}

// Whether the level leaves it open that an object reads like that. Without parity nothing is ever
// repaired, so it must read exactly as it was damaged. With parity but without checksums a page may
// be rebuilt along with its header, from a column that was damaged.
bool trial::excused(const object& o, const std::byte* bytes) const {
  if (where_.level == SCUTE_PROTECT_MLPC) return false;
  for (uint64_t i = 0; i < o.size; ++i) {
    const std::byte was = image_.original()[o.payload + i];
    if (bytes[i] == was) continue;
    const uint64_t at = o.payload + i;
    if (where_.level == SCUTE_PROTECT_MLP ? !oracle_.touched(at)
                                          : bytes[i] != (was ^ oracle_.hit(at)))
      return false;
  }
  return true;
}

void trial::read(scute_pool* pool, const prediction& v, outcome& out) const {
  const auto& objects = image_.where().objects;
  const auto broken = [&](const object& o, const std::string& what) {
    if (out.broken.empty())
      out.broken =
          fmt::format("object at {:#x}, {} bytes, chunk {}: {}", o.payload, o.size, o.chunk, what);
    if (how_.trial >= 0)
      fmt::print("{:#x}, {} bytes: {}\n{}", o.payload, o.size, what,
                 oracle_.describe(static_cast<uint32_t>(&o - objects.data())));
  };
  for (size_t i = 0; i < objects.size(); ++i) {
    const object& o = objects[i];
    const void* at = nullptr;
    uint64_t size = o.size;
    uint32_t type = o.type;
    std::byte page[4096];
    int code = SCUTE_OK;
    if (image_.is_shielded()) {
      at = page;
      code = scute_shield_read(pool, o.payload - objects[0].payload, page, o.size);
    } else {
      code = scute_get_verified(pool, o.oid, &at);
      if (code == SCUTE_OK) code = scute_object_info(pool, o.oid, &size, nullptr, &type);
    }
    if (code != SCUTE_OK) {
      ++out.refused;
      if (v.survives[i])
        broken(o,
               fmt::format("had to survive, but: {}: {}", scute_errorname(code), scute_errormsg()));
      continue;
    }
    const auto* bytes = static_cast<const std::byte*>(at);
    // The bytes read are those that a program without the shield would read from the user's file.
    const bool spoilt =
        (how_.spoil == drill::silent && i == 0) ||
        (image_.is_shielded() && std::memcmp(bytes, image_.bytes() + o.payload, o.size) != 0);
    if (size == o.size && type == o.type && !spoilt &&
        std::memcmp(bytes, image_.original() + o.payload, o.size) == 0) {
      ++out.right;
      if (!v.survives[i]) ++out.saved_besides;
    } else if (size == o.size && type == o.type && !spoilt && excused(o, bytes)) {
      ++out.unchecked;
    } else {
      ++out.silent;
      broken(o, "reads wrong bytes without an error");
    }
  }
}

// An enumeration reports every object, or that it could not; and nothing else.
void trial::enumerate(scute_pool* pool, outcome& out) const {
  std::set<scute_oid> reported;
  scute_oid oid = SCUTE_OID_NULL;
  int code = scute_first(pool, SCUTE_TYPE_ANY, &oid);
  for (; code == SCUTE_OK && oid != SCUTE_OID_NULL;
       code = scute_next(pool, oid, SCUTE_TYPE_ANY, &oid))
    reported.insert(oid);
  const auto broken = [&](const std::string& what) {
    if (out.broken.empty()) out.broken = "the enumeration " + what;
  };
  if (code != SCUTE_OK && code != SCUTE_E_CORRUPT)
    broken(fmt::format("fails: {}: {}", scute_errorname(code), scute_errormsg()));
  if (how_.spoil == drill::forgetful) reported.erase(image_.where().objects.back().oid);
  for (const object& o : image_.where().objects)
    if (reported.erase(o.oid) == 0 && code == SCUTE_OK)
      broken(fmt::format("skips the object at {:#x} without an error", o.payload));
  // Bytes that look like an object may be reported, but not read.
  for (const scute_oid more : reported) {
    const void* at = nullptr;
    if (scute_get_verified(pool, more, &at) == SCUTE_OK)
      broken(fmt::format("lists an object at {:#x}, where none was ever stored",
                         more & 0xffff'ffff'ffffu));
  }
}

outcome trial::run(unsigned number) {
  outcome out;
  out.objects = image_.where().objects.size();
  image_.restore();
  std::vector<error> errors = draw_errors(
      image_.where().file_size, where_.bits, where_.rate,
      mix(mix(how_.seed, where_.bits), mix(static_cast<uint64_t>(1e12 * where_.rate), number)));
  if (image_.is_shielded()) {
    // Holes of the file next to it, which are unused.
    std::erase_if(errors, [&](const error& e) {
      return e.offset >= image_.where().used_end && e.offset < image_.where().parity_begin();
    });
    for (const error& e : errors) out.errors_beside += image_.is_of_user_file(e.offset) ? 0 : 1;
  }
  out.errors = errors.size();
  prediction v = oracle_.predict(errors);
  if (how_.spoil == drill::greedy) v.survives.assign(v.survives.size(), true);
  out.survivable = v.survivors;
  out.had_to_open = v.opens;
  out.within = v.within;
  inflict(image_.bytes(), errors);
  scute_pool* pool = nullptr;
  const int code = image_.open(&pool);
  out.opened = code == SCUTE_OK;
  if (!out.opened) {
    out.refused = out.objects;
    if (v.opens)
      out.broken = fmt::format("a whole superblock is left, but opening failed: {}: {}",
                               scute_errorname(code), scute_errormsg());
    return out;
  }
  try {
    const bool has_objects = !image_.is_shielded();
    if (has_objects && number % 2 != 0) enumerate(pool, out);
    repair(pool);
    read(pool, v, out);
    if (has_objects) enumerate(pool, out);
    need(scute_close(std::exchange(pool, nullptr)));
  } catch (const std::exception& e) {
    scute_close(pool);
    out.broken = e.what();
  }
  return out;
}

}  // namespace scute_campaign
