// SPDX-License-Identifier: BSD-3-Clause
// TATP's database and its seven transactions.
//
//   TATP-1  A subscriber has 1 to 4 rows of access_info and 1 to 4 of special_facility, of
//       different types, and a facility 0 to 3 call_forwardings, of different start times; each row
//       names its key.
//   TATP-2  A transaction holds its subscriber's lock: shared, if it only reads. Subscribers may
//           share a lock.
//   TATP-3  Only insert_forwarding and delete_forwarding make and free rows. No other transaction
//           changes a key.
//
// A transaction that finds no row, or finds the one that it wants to insert, fails: the description
// counts those as done, and says how many there should be.
#pragma once

#include <cstdint>
#include <cstring>
#include <shared_mutex>
#include <span>
#include <string>

#include "workloads/dice.hpp"
#include "workloads/locks/row_locks.hpp"
#include "workloads/stores/section.hpp"
#include "workloads/stores/store.hpp"
#include "workloads/tables/row_table.hpp"
#include "workloads/tatp/requests.hpp"
#include "workloads/tatp/rows.hpp"

namespace scute::workloads::tatp {

struct setup {
  uint32_t subscribers;
  uint32_t locks;  // 1: one for all, as ENTS has it
  uint64_t seed;
};

template <store S>
class database {
  using tx = typename S::tx;
  template <class T>
  using ptr = typename S::template ptr<T>;

 public:
  using access_info = typename rows<S>::access_info;
  using special_facility = typename rows<S>::special_facility;
  using call_forwarding = typename rows<S>::call_forwarding;
  using subscriber = typename rows<S>::subscriber;
  using table = row_table<S, subscriber>;
  struct root {
    typename table::head subscribers;
  };

  /// Makes the missing parts of the population. The store stays the caller's, and outlives this. No
  /// other thread may use the database meanwhile.
  database(S& s, ptr<root> at, const setup& how)
      : store_(s),
        root_(at),
        how_(how),
        subscribers_(s.view(), s.view().get(at).subscribers),
        locks_(how.locks) {
    while (subscribers_.size() < how_.subscribers)
      store_.transact([&](tx& t) {
        subscribers_.add(t, t.edit(root_, &root::subscribers),
                         how_.subscribers - subscribers_.size(),
                         [&](uint64_t i, subscriber& row) { populate(t, i, row); });
      });
  }
  database(const database&) = delete;
  database& operator=(const database&) = delete;

  /// True: it succeeded. `seen` gets something of all that was read.
  bool run(const request& r, uint64_t& seen) {
    switch (r.what) {
      case kind::get_subscriber: return get_subscriber(r, seen);
      case kind::get_destination: return get_destination(r, seen);
      case kind::get_access: return get_access(r, seen);
      case kind::update_subscriber: return update_subscriber(r);
      case kind::update_location: return update_location(r);
      case kind::insert_forwarding: return insert_forwarding(r);
      default: return delete_forwarding(r);
    }
  }

  /// Without locks. f(const R&, const subscriber&) for each.
  template <class F>
  void for_each(F&& f) const {
    const auto& r = store_.view();
    for (uint64_t i = 0; i < subscribers_.size(); ++i) f(r, r.get(subscribers_[i]));
  }
  std::string check() const {
    std::string wrong;
    uint32_t id = 0;
    for_each([&](const auto& r, const subscriber& s) {
      ++id;
      const auto complain = [&](const char* what) {
        wrong = "TATP: " + std::string(what) + " of subscriber " + std::to_string(id);
      };
      if (s.id != id || read_number(s.number) != id) complain("the key");
      unsigned accesses = 0, facilities = 0;
      for (unsigned i = 0; i < 4; ++i) {
        if (s.access[i]) {
          ++accesses;
          const access_info& a = r.get(s.access[i]);
          if (a.subscriber != id || a.type != i + 1) complain("the key of an access_info");
        }
        if (!s.facility[i]) continue;
        ++facilities;
        const special_facility& f = r.get(s.facility[i]);
        if (f.subscriber != id || f.type != i + 1 || f.is_active > 1)
          complain("the key of a special_facility");
        for (unsigned k = 0; k < 3; ++k) {
          if (!f.forwarding[k]) continue;
          const call_forwarding& c = r.get(f.forwarding[k]);
          if (c.subscriber != id || c.type != i + 1 || c.start_time != 8 * k || c.end_time == 0 ||
              c.end_time > 24)
            complain("the key of a call_forwarding");
        }
      }
      if (accesses == 0 || facilities == 0) complain("the rows");
    });
    return wrong;
  }
  void clear() {
    while (subscribers_.size() != 0)
      store_.transact([&](tx& t) {
        subscribers_.take_away(t, t.edit(root_, &root::subscribers), [&](const subscriber& s) {
          for (const auto a : s.access)
            if (a) t.destroy(a);
          for (const auto f : s.facility) {
            if (!f) continue;
            for (const auto c : t.get(f).forwarding)
              if (c) t.destroy(c);
            t.destroy(f);
          }
        });
      });
  }

 private:
  void populate(tx& t, uint64_t i, subscriber& s) {
    dice d(how_.seed * 1'000'003 + i);
    s.id = static_cast<uint32_t>(i + 1);
    write_number(s.number, i + 1);
    for (uint8_t& b : s.bit) b = static_cast<uint8_t>(d.below(2));
    for (uint8_t& h : s.hex) h = static_cast<uint8_t>(d.below(16));
    for (uint8_t& b : s.byte2) b = static_cast<uint8_t>(d.below(256));
    s.msc_location = static_cast<uint32_t>(d.next());
    s.vlr_location = static_cast<uint32_t>(d.next());
    const auto accesses = draw_types(d), facilities = draw_types(d);
    for (uint8_t k = 0; k < 4; ++k) {
      if (accesses[k]) {
        const auto [at, a] = t.template make<access_info>();
        a.subscriber = s.id;
        a.type = static_cast<uint8_t>(k + 1);
        a.data1 = static_cast<uint8_t>(d.below(256));
        a.data2 = static_cast<uint8_t>(d.below(256));
        write_letters(a.data3, d);
        write_letters(a.data4, d);
        s.access[k] = at;
      }
      if (!facilities[k]) continue;
      const auto [at, f] = t.template make<special_facility>();
      f.subscriber = s.id;
      f.type = static_cast<uint8_t>(k + 1);
      f.is_active = d.percent(85) ? 1 : 0;
      f.error_control = static_cast<uint8_t>(d.below(256));
      f.data_a = static_cast<uint8_t>(d.below(256));
      write_letters(f.data_b, d);
      const auto times = draw_times(d);
      for (uint8_t n = 0; n < 3; ++n) {
        if (!times[n]) continue;
        request r{};
        r.subscriber = s.id;
        r.type = f.type;
        r.start_time = static_cast<uint8_t>(8 * n);
        r.end_time = static_cast<uint8_t>(8 * n + d.between(1, 8));
        r.word = static_cast<uint32_t>(d.next());
        f.forwarding[n] = make_forwarding(t, r);
      }
      s.facility[k] = at;
    }
  }
  static ptr<call_forwarding> make_forwarding(tx& t, const request& r) {
    const auto [at, c] = t.template make<call_forwarding>();
    c.subscriber = r.subscriber;
    c.type = r.type;
    c.start_time = r.start_time;
    c.end_time = r.end_time;
    write_number(c.number, r.word);
    return at;
  }

  ptr<subscriber> row_of(const request& r) const { return subscribers_[r.subscriber - 1]; }
  std::shared_mutex& lock_of(const request& r) { return locks_.of(r.subscriber); }

  bool get_subscriber(const request& q, uint64_t& seen) {
    return in_reading(store_, lock_of(q), [&](const auto& r) {
      const subscriber s = r.get(row_of(q));
      seen += uint64_t{s.msc_location} + s.vlr_location + s.bit[0] + s.hex[9] + s.byte2[9];
      return true;
    });
  }
  // The numbers that calls are forwarded to which begin at start_time or before and end after
  // end_time.
  bool get_destination(const request& q, uint64_t& seen) {
    return in_reading(store_, lock_of(q), [&](const auto& r) {
      const auto at = r.get(row_of(q)).facility[q.type - 1];
      if (!at) return false;
      const special_facility& f = r.get(at);
      if (f.is_active == 0) return false;
      bool any = false;
      for (unsigned k = 0; k <= q.start_time / 8U; ++k) {
        if (!f.forwarding[k]) continue;
        const call_forwarding& c = r.get(f.forwarding[k]);
        if (c.start_time > q.start_time || q.end_time >= c.end_time) continue;
        seen += read_number(c.number);
        any = true;
      }
      return any;
    });
  }
  bool get_access(const request& q, uint64_t& seen) {
    return in_reading(store_, lock_of(q), [&](const auto& r) {
      const auto at = r.get(row_of(q)).access[q.type - 1];
      if (!at) return false;
      const access_info& a = r.get(at);
      seen +=
          a.data1 + a.data2 + static_cast<uint64_t>(a.data3[0]) + static_cast<uint64_t>(a.data4[0]);
      return true;
    });
  }
  // bit_1 of the subscriber, and data_a of one of its facilities: both or, if there is no such
  // facility, neither.
  bool update_subscriber(const request& q) {
    return in_section(store_, lock_of(q), [&](tx& t) {
      const auto at = t.get(row_of(q)).facility[q.type - 1];
      if (!at) return false;
      t.edit(row_of(q), &subscriber::bit, 0) = q.word & 1;
      t.edit(at, &special_facility::data_a) = static_cast<uint8_t>(q.word >> 8);
      return true;
    });
  }
  bool update_location(const request& q) {
    return in_section(store_, lock_of(q), [&](tx& t) {
      t.edit(row_of(q), &subscriber::vlr_location) = q.word;
      return true;
    });
  }
  bool insert_forwarding(const request& q) {
    return in_section(store_, lock_of(q), [&](tx& t) {
      const auto at = t.get(row_of(q)).facility[q.type - 1];
      if (!at || t.get(at).forwarding[q.start_time / 8]) return false;
      const auto fresh = make_forwarding(t, q);
      t.edit(at, &special_facility::forwarding, q.start_time / 8U) = fresh;
      return true;
    });
  }
  bool delete_forwarding(const request& q) {
    return in_section(store_, lock_of(q), [&](tx& t) {
      const auto at = t.get(row_of(q)).facility[q.type - 1];
      if (!at) return false;
      const auto gone = t.get(at).forwarding[q.start_time / 8];
      if (!gone) return false;
      t.edit(at, &special_facility::forwarding, q.start_time / 8U) = {};
      t.destroy(gone);
      return true;
    });
  }

  S& store_;
  ptr<root> root_;
  setup how_;
  table subscribers_;
  row_locks locks_;
};

}  // namespace scute::workloads::tatp
