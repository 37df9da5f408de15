// Exports.swift — the types that come with `import Tidemark`: those that an app uses every day.
//
// For an adapter, a transport, and the types of the log, as Position, there is TidemarkSync, which
// exports all of its types.

@_exported public import struct TidemarkCapsule.Redaction
@_exported public import struct TidemarkCapsule.RedactionError
@_exported public import struct TidemarkEvents.CollectionModel
@_exported public import struct TidemarkEvents.CollectionName
@_exported public import enum TidemarkEvents.ConflictAnswer
@_exported public import struct TidemarkEvents.ConflictCase
@_exported public import struct TidemarkEvents.ConflictRule
@_exported public import enum TidemarkEvents.ContentName
@_exported public import struct TidemarkEvents.EntityKey
@_exported public import enum TidemarkEvents.EntityStatus
@_exported public import struct TidemarkEvents.IdempotencyKey
@_exported public import struct TidemarkEvents.IndexModel
@_exported public import struct TidemarkEvents.JSONDocument
@_exported public import enum TidemarkEvents.JSONValue
@_exported public import struct TidemarkEvents.ModelRegistration
@_exported public import enum TidemarkEvents.MutationOutcome
@_exported public import struct TidemarkEvents.Reference
@_exported public import struct TidemarkEvents.Remote
@_exported public import struct TidemarkEvents.SyncModel
@_exported public import enum TidemarkEvents.SyncScope
@_exported public import struct TidemarkEvents.SyncSettings
@_exported public import struct TidemarkEvents.TimeSpan
@_exported public import struct TidemarkEvents.Timestamp
@_exported public import struct TidemarkSync.Credentials
@_exported public import struct TidemarkSync.Dependencies
@_exported public import enum TidemarkSync.SyncFailure
@_exported public import struct TidemarkSync.SyncOutcome
@_exported public import struct TidemarkSync.SyncProgress
@_exported public import struct TidemarkSync.TransferOutcome
