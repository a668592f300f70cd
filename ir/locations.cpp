// Places in the source, taken out of MLIR locations.
// SPDX-License-Identifier: Apache-2.0
#include "ir/program_tables.h"

using namespace mlir;

namespace pdg {

static void collectPlaces(Location loc, SmallVectorImpl<FileLineColRange> &places) {
  if (auto place = dyn_cast<FileLineColRange>(loc)) {
    places.push_back(place);
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    collectPlaces(call.getCallee(), places);
    collectPlaces(call.getCaller(), places);
  } else if (auto name = dyn_cast<NameLoc>(loc)) {
    collectPlaces(name.getChildLoc(), places);
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    // Ops that were joined: the first one's place stands for all.
    for (Location part : fused.getLocations()) {
      collectPlaces(part, places);
      if (!places.empty())
        return;
    }
  } else if (auto opaque = dyn_cast<OpaqueLoc>(loc)) {
    collectPlaces(opaque.getFallbackLocation(), places);
  }
}

SmallVector<FileLineColRange> placesOf(Location loc) {
  SmallVector<FileLineColRange> places;
  collectPlaces(loc, places);
  return places;
}

std::string locationText(Location loc) {
  SmallVector<FileLineColRange> places = placesOf(loc);
  if (places.empty())
    return "";
  FileLineColRange place = places.front();
  return place.getFilename().str() + ":" + std::to_string(place.getStartLine()) + ":" +
         std::to_string(place.getStartColumn());
}

std::string excerptText(Location loc, const ExcerptFunction &excerpt) {
  std::string text;
  if (!excerpt)
    return text;
  for (FileLineColRange place : placesOf(loc)) {
    std::string part = excerpt(place);
    if (!text.empty() && !part.empty())
      text += "in the call at\n";
    text += part;
  }
  return text;
}

} // namespace pdg
