//! Where a record is in the archive, as the ledger writes it and as the archive does.

use frontier::Place;
use repository::archive::Location;

/// As the archive reads it.
pub fn location(place: Place) -> Location {
    Location {
        file: place.file,
        offset: place.offset,
        length: place.length,
    }
}

/// As the ledger keeps it.
pub fn place(location: Location) -> Place {
    Place {
        file: location.file,
        offset: location.offset,
        length: location.length,
    }
}
