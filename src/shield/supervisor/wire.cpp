// SPDX-License-Identifier: BSD-3-Clause
#include "shield/supervisor/wire.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

namespace scute::core::supervisor {
namespace {

constexpr size_t descriptors_max = 2;

struct control {
  alignas(cmsghdr) char bytes[CMSG_SPACE(descriptors_max * sizeof(int))] = {};
};

}  // namespace

bool send_packet(int socket, const packet& p, const int* descriptors, size_t count) {
  iovec data{const_cast<packet*>(&p), offsetof(packet, path) + p.path_length};
  control room;
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (count != 0) {
    message.msg_control = room.bytes;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* const c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(c), descriptors, count * sizeof(int));
  }
  ssize_t n = 0;
  do n = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);
  return n >= 0;
}

bool receive_packet(int socket, packet& p, int* descriptors, size_t& count) {
  const size_t wanted = count;
  count = 0;
  iovec data{&p, sizeof p};
  control room;
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = room.bytes;
  message.msg_controllen = sizeof room.bytes;
  ssize_t n = 0;
  do n = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (n < 0 && errno == EINTR);
  if (n < 0) return false;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    if (count > wanted) count = wanted;
    std::memcpy(descriptors, CMSG_DATA(c), count * sizeof(int));
  }
  if (n == 0) {
    errno = EPIPE;
    return false;
  }
  const size_t head = offsetof(packet, path);
  if (static_cast<size_t>(n) < head || p.version != wire_version ||
      p.path_length >= sizeof p.path || static_cast<size_t>(n) != head + p.path_length) {
    errno = EPROTO;
    return false;
  }
  p.path[p.path_length] = 0;
  return true;
}

address abstract_address(const std::string& name) {
  address a;
  sockaddr_un un{};
  if (name.empty() || name.size() + 1 > sizeof un.sun_path) return a;
  un.sun_family = AF_UNIX;
  std::memcpy(un.sun_path + 1, name.data(), name.size());
  std::memcpy(a.bytes, &un, sizeof un);
  a.length = static_cast<uint32_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return a;
}

}  // namespace scute::core::supervisor
