// Takes apart what the transport says of a lost process: only this text reaches every survivor.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cluster/lost_process.h"

#include <string_view>

namespace pdg {

std::optional<MissedMessage> findMissed(Peer peer, const RunError &error) {
  if (error.message.find(nameOf(peer) + " was lost: ") == std::string::npos)
    return std::nullopt;
  // "...; message 7 of 'gradient of W' at model.pdg:3:5 did not come"
  constexpr std::string_view begins = "; message ", at = "' at ", ends = " did not come";
  std::string_view text = error.message;
  size_t begin = text.rfind(begins), end = text.rfind(ends);
  if (begin == text.npos || end == text.npos || end < begin)
    return MissedMessage{"", error.location};
  std::string_view missed = text.substr(begin + 2, end - begin - 2);
  size_t place = missed.rfind(at);
  if (place == missed.npos)
    return MissedMessage{std::string(missed) + std::string(ends), error.location};
  return MissedMessage{std::string(missed.substr(0, place + 1)) + std::string(ends),
                       std::string(missed.substr(place + at.size()))};
}

} // namespace pdg
