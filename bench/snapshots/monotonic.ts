/** The clock that all processes of one machine share, in milliseconds. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;
