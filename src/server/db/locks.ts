/** Every advisory lock of the server, so that no two subjects share a number. */
export const LOCKS = {
  migrate: 7_402_001,
  events: 7_402_002,
  revocations: 7_402_003,
  sweep: 7_402_004,
  keys: 7_402_005,
  health: 7_402_006,
  maintenance: 7_402_007,
  incidents: 7_402_008,
  model: 7_402_010,
  profiles: 7_402_011,
  apiKeys: 7_402_012,
  silence: 7_402_015,
  copies: 7_402_017,
  unavailable: 7_402_019,
} as const;
