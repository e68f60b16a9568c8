import { afterAll, beforeAll } from "vitest";
import { type HelloImages, helloImages } from "../../support/docker/hello-images.ts";
import { type DockerLab, dockerLab } from "../../support/docker/lab.ts";
import { dockerMachine } from "../../support/docker/machine.ts";
import { killSuite } from "./kill-suite.ts";

let lab: DockerLab;
let images: HelloImages;
beforeAll(async () => {
  lab = await dockerLab();
  images = await helloImages(lab);
});
afterAll(async () => lab.close());

/** What the adapter remembers is written before the engine is asked; kills at the engine are in test/contract/docker. */
const notes = (count: number): string[] =>
  Array.from({ length: count }, () => String.raw`rename .*/docker\.json$`);

killSuite("docker", async () => dockerMachine(lab, images), {
  inside: {
    "acquire, before the image is noted": notes(1),
    "stop, before the restart policy is noted": notes(2),
    "install, before the old container is noted": notes(3),
    "start, before the launch is noted": notes(4),
  },
  whileTakenBack: { "the start": notes(5), "the stop": notes(6) },
});
