// SPDX-License-Identifier: BSD-3-Clause
// Points with whole coordinates in a square, and what a triangulation asks about them. Differences
// of coordinates stay below 2^25 in size, so that every answer fits 128 bits and is exact.
#pragma once

#include <algorithm>
#include <cstdint>

namespace scute::workloads::stamp {

// The square of the points is [0, extent] x [0, extent].
inline constexpr int32_t extent = 1 << 24;

struct point {
  int32_t x, y;
  friend bool operator==(const point&, const point&) = default;
};

__extension__ using wide = __int128;

struct direction {
  int64_t x, y;
};
constexpr direction operator-(point a, point b) noexcept {
  return {int64_t{a.x} - b.x, int64_t{a.y} - b.y};
}
constexpr int64_t cross(direction a, direction b) noexcept {
  return a.x * b.y - a.y * b.x;
}
constexpr int64_t dot(direction a, direction b) noexcept {
  return a.x * b.x + a.y * b.y;
}

// Twice the area of a triangle; positive if its corners are named counterclockwise.
constexpr int64_t area2(point a, point b, point c) noexcept {
  return cross(b - a, c - a);
}
// Is p strictly inside the circle through a, b, c, which are named counterclockwise?
constexpr bool in_circle(point a, point b, point c, point p) noexcept {
  const direction d = a - p, e = b - p, f = c - p;
  return wide{dot(d, d)} * cross(e, f) + wide{dot(e, e)} * cross(f, d) +
             wide{dot(f, f)} * cross(d, e) >
         0;
}
// Is p inside the circle that has the edge as its diameter?
constexpr bool encroaches(point p, point a, point b) noexcept {
  return dot(a - p, b - p) < 0;
}

constexpr int64_t rounded_quotient(wide n, wide d) noexcept {  // d > 0
  constexpr wide far = wide{1} << 40;
  const wide twice = 2 * n + d;
  const wide q = twice / (2 * d) - (twice % (2 * d) < 0 ? 1 : 0);
  return static_cast<int64_t>(q > far ? far : q < -far ? -far : q);
}
struct distant_point {
  int64_t x, y;
};
// The centre of the circle through three corners, rounded; very far away only its direction is
// right, roughly.
constexpr distant_point circumcentre(point a, point b, point c) noexcept {
  const direction e = b - a, f = c - a;
  const wide d = 2 * wide{cross(e, f)}, ee = dot(e, e), ff = dot(f, f);
  return {a.x + rounded_quotient(ee * f.y - ff * e.y, d),
          a.y + rounded_quotient(ff * e.x - ee * f.x, d)};
}

// The square of the sine of a triangle's smallest angle, which lies between the two longer edges.
inline double sharpness(point a, point b, point c) noexcept {
  const auto length2 = [](direction d) { return static_cast<double>(dot(d, d)); };
  const double p = length2(b - a), q = length2(c - b), r = length2(a - c);
  const auto twice = static_cast<double>(area2(a, b, c));
  return twice * twice * std::min({p, q, r}) / (p * q * r);
}

}  // namespace scute::workloads::stamp
