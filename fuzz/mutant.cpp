// SPDX-License-Identifier: BSD-3-Clause
#include "mutant.hpp"

#include <algorithm>
#include <cstring>

#include "core/engine/common/lane_log.hpp"
#include "core/shared/pool/superblock.hpp"
#include "spec_log.hpp"

namespace scute::fuzz {
using namespace core;
namespace {

class mutator {
 public:
  mutator(const base_image& image, mutant& m)
      : image_(image), s_(*image.s), g_(image.s->geo), m_(m) {}

  void run(const mutation& m) {
    if (m.kind == place_kind::file_size) {
      resize(m);
      return;
    }
    const structure at = find(m, m.which);
    if (at.length == 0 || !inside(at.begin, at.length)) return;
    const uint64_t wanted = uint64_t{m.field} * 4 + (m.extra >> 2u) * 1024u + (m.extra & 3u);
    change(m, at, wanted % at.length);
    if (!m.reseal) return;
    m_.plain = false;
    seal(m, at);
  }

 private:
  template <typename List>
  static const typename List::value_type* pick(const List& list, uint32_t which) {
    return list.empty() ? nullptr : &list[which % list.size()];
  }
  static structure pick_structure(const std::vector<structure>& list, uint32_t which) {
    const structure* s = pick(list, which);
    return s != nullptr ? *s : structure{};
  }

  structure find(const mutation& m, uint32_t which) const {
    switch (m.kind) {
      case place_kind::superblock: return pick_structure(image_.superblocks, which);
      case place_kind::lane_status: {
        structure s = pick_structure(image_.statuses, which);
        // Of engine spec it has the truncation point as well.
        if (s_.sb.engine != SCUTE_ENGINE_SPEC) s.length = std::min<uint64_t>(s.length, 16);
        return s;
      }
      case place_kind::ring_entry:
      case place_kind::ring_record: {
        structure s = pick_structure(image_.ring, which);
        if (m.kind == place_kind::ring_entry) s.length = std::min<uint64_t>(s.length, 64);
        return s;
      }
      case place_kind::undo_entry: return pick_structure(image_.undo, which);
      case place_kind::log_link: return pick_structure(image_.links, which);
      case place_kind::zone_descriptor: return pick_structure(image_.zones, which);
      case place_kind::root_anchor: return pick_structure(image_.anchors, which);
      case place_kind::chunk_header: return pick_structure(image_.chunk_headers, which);
      case place_kind::object_header: {
        const pool::fragment* f = pick(image_.headers, which);
        return f != nullptr ? structure{f->header, format::header_size, 0} : structure{};
      }
      case place_kind::part_header: {
        const pool::fragment* f = pick(image_.parts, which);
        return f != nullptr ? structure{f->header, format::header_size, 0} : structure{};
      }
      case place_kind::payload: {
        const pool::fragment* f = payload_fragment(which);
        return f != nullptr ? structure{f->payload, f->room, 0} : structure{};
      }
      case place_kind::parity:
        return g_.parity == 0 ? structure{}
                              : structure{g_.zone_offset(0) + g_.data_size +
                                              which * format::page % g_.row_size,
                                          format::page, 0};
      case place_kind::chunk_bytes: return pick_structure(image_.chunks, which);
      case place_kind::raw: return {which * format::page % image_.content.size(), format::page, 0};
      case place_kind::file_size: break;
    }
    return {};
  }

  // Live objects first, so that small numbers hit what matters.
  const pool::fragment* payload_fragment(uint32_t which) const {
    const size_t live = image_.objects.size(), parts = image_.parts.size();
    if (live + parts == 0) return nullptr;
    const size_t n = which % (live + parts);
    if (n >= live) return &image_.parts[n - live];
    const uint64_t oid = std::next(image_.objects.begin(), static_cast<long>(n))->first;
    for (const auto& f : image_.headers)
      if (f.payload == (oid & 0xffff'ffff'ffffu)) return &f;
    return nullptr;
  }

  bool inside(uint64_t at, uint64_t n) const {
    return at <= m_.content.size() && n <= m_.content.size() - at;
  }
  std::byte* at(uint64_t offset) { return m_.content.data() + offset; }

  void hit(uint64_t offset, uint64_t n) {
    for (uint64_t page = offset / format::page; n != 0 && page <= (offset + n - 1) / format::page;
         ++page)
      m_.pages.insert(page);
  }

  void change(const mutation& m, const structure& where, uint64_t in) {
    const uint64_t offset = where.begin + in;
    const uint64_t left = where.length - in;
    if (m.kind == place_kind::lane_status) m_.status_hit = true;
    if (m.what == operation::copy) {
      const structure from = find(m, m.value);
      const uint64_t n = std::min(where.length, from.length);
      if (!inside(from.begin, n) || !inside(where.begin, n)) return;
      std::memmove(at(where.begin), at(from.begin), n);
      m_.plain = false;  // a valid structure may have come to lie where it was before
      return;
    }
    if (m.what == operation::fill || m.what == operation::zero) {
      const uint64_t n = std::min<uint64_t>(left, 1 + m.value % 2048);
      uint64_t x = m.value * 0x9e3779b97f4a7c15u + 1;
      for (uint64_t i = 0; i < n; ++i) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        *at(offset + i) = m.what == operation::zero ? std::byte{0} : std::byte(x >> 32 & 0xff);
      }
      hit(offset, n);
      return;
    }
    const uint64_t n = std::min<uint64_t>(left, m.width);
    uint64_t word = 0;
    std::memcpy(&word, at(offset), n);
    switch (m.what) {
      case operation::set: word = m.value; break;
      case operation::exclusive_or: word ^= m.value; break;
      case operation::add:
        word += static_cast<uint64_t>(int64_t{static_cast<int32_t>(m.value)});
        break;
      case operation::interesting:
        word = image_.boundaries[m.value % image_.boundaries.size()];
        break;
      default: word ^= uint64_t{1} << m.value % 64; break;
    }
    std::memcpy(at(offset), &word, n);
    hit(offset, n);
  }

  void resize(const mutation& m) {
    uint64_t size = m_.content.size();
    constexpr uint64_t sizes[] = {1, 511, 512, 4095, 4096, 4608, 8191, 8192, 8193, 12288, 65536};
    switch (m.what) {
      case operation::set: size = m.value; break;
      case operation::interesting: size = sizes[m.value % std::size(sizes)]; break;
      case operation::flip: size ^= uint64_t{1} << m.value % 20; break;
      default:
        size += static_cast<uint64_t>(int64_t{static_cast<int32_t>(m.value % 65536)}) - 32768;
    }
    // The meaning of inputs stays the same, whatever the largest image is.
    constexpr uint64_t size_max = uint64_t{1} << 20;
    m_.content.resize(size % (std::max(size_max, image_.content.size()) + 1));
    m_.resized = true;
  }

  // ---- checksums --------------------------------------------------------------------------------

  template <typename T>
  T load(uint64_t offset) {
    T t;
    std::memcpy(&t, at(offset), sizeof t);
    return t;
  }
  template <typename T>
  void store(uint64_t offset, const T& t) {
    std::memcpy(at(offset), &t, sizeof t);
  }

  void seal(const mutation& m, const structure& where) {
    if (s_.sb.engine == SCUTE_ENGINE_SPEC &&
        inside(where.begin, std::max(where.length, where.room)) &&
        seal_spec_log(image_, m_.content, where))
      return;
    switch (m.kind) {
      case place_kind::superblock: {
        auto sb = load<format::superblock>(where.begin);
        sb.checksum = pool::superblock_checksum(sb);
        store(where.begin, sb);
        break;
      }
      case place_kind::lane_status: {
        const auto lane = static_cast<uint32_t>(where.room);
        auto st = load<format::lane_status>(where.begin);
        st.applied = log::make_status_word(engine::identity_of(s_, lane), log::status_word::applied,
                                           st.applied);
        st.undone = log::make_status_word(engine::identity_of(s_, lane), log::status_word::undone,
                                          st.undone);
        store(where.begin, st);
        break;
      }
      case place_kind::ring_entry:
      case place_kind::ring_record:
      case place_kind::undo_entry: {
        auto e = load<format::log_entry>(where.begin);
        if (!inside(where.begin, where.room)) return;
        e.checksum = log::entry_checksum(
            at(where.begin), sizeof e + std::min<uint64_t>(e.body_size, where.room - sizeof e));
        store(where.begin, e);
        break;
      }
      case place_kind::log_link: {
        auto link = load<format::log_link>(where.begin);
        if (!inside(where.begin, where.room)) return;
        format::log_link bounded = link;
        bounded.length = std::min<uint64_t>(link.length, where.room - sizeof link);
        if (bounded.length == link.length)
          link.checksum = log::link_checksum(link, at(where.begin + sizeof link));
        store(where.begin, link);
        break;
      }
      case place_kind::zone_descriptor:
        seal_fragment(pool::metadata_fragment(where.begin, format::type_zone));
        break;
      case place_kind::root_anchor:
        seal_fragment(pool::metadata_fragment(where.begin, format::type_anchor));
        break;
      case place_kind::chunk_header:
        seal_fragment(pool::metadata_fragment(where.begin, format::type_chunk));
        break;
      case place_kind::object_header: seal_fragment(*pick(image_.headers, m.which)); break;
      case place_kind::part_header: seal_fragment(*pick(image_.parts, m.which)); break;
      case place_kind::payload: seal_fragment(*payload_fragment(m.which)); break;
      case place_kind::parity:
      case place_kind::chunk_bytes:
      case place_kind::raw: seal_parity(); break;
      case place_kind::file_size: break;
    }
  }

  void seal_fragment(const pool::fragment& f) {
    if (!inside(f.header, format::header_size) || !inside(f.payload, f.room)) return;
    auto h = load<format::fragment_header>(f.header);
    const uint32_t n = pool::covered(s_, f, h);
    // A header that cannot be one here is sealed as if its size were right.
    const uint32_t length =
        n != pool::not_covered ? n
        : f.metadata           ? f.room
                     : static_cast<uint32_t>(std::min<uint64_t>(format::meta_size(h.meta), f.room));
    h.checksum = pool::header_checksum(s_, f, h, at(f.payload), length);
    store(f.header, h);
  }

  // Every column of the zone adds up again, so that what a repair decodes is what lies there.
  void seal_parity() {
    const uint64_t zone = g_.zone_offset(0);
    if (g_.parity == 0 || !inside(zone, g_.zone_size)) return;
    const uint64_t parity = zone + g_.data_size;
    std::memset(at(parity), 0, g_.row_size);
    for (uint32_t r = 0; r < g_.rows; ++r)
      for (uint64_t i = 0; i < g_.row_size; i += 8)
        store(parity + i, load<uint64_t>(parity + i) ^ load<uint64_t>(zone + r * g_.row_size + i));
  }

  const base_image& image_;
  const pool::state& s_;
  const pool::geometry& g_;
  mutant& m_;
};

}  // namespace

mutant mutate(const base_image& image, const std::vector<mutation>& mutations) {
  mutant m;
  m.content = image.content;
  mutator change(image, m);
  for (const mutation& x : mutations) change.run(x);
  return m;
}

}  // namespace scute::fuzz
