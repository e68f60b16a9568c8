import { afterAll, beforeAll } from "vitest";
import { type HelloImages, helloImages } from "../../support/docker/hello-images.ts";
import { type DockerLab, dockerLab } from "../../support/docker/lab.ts";
import { dockerMachine } from "../../support/docker/machine.ts";
import { adapterContract } from "./suite.ts";

let lab: DockerLab;
let images: HelloImages;
beforeAll(async () => {
  lab = await dockerLab();
  images = await helloImages(lab);
});
afterAll(async () => lab.close());

adapterContract("docker", async () => dockerMachine(lab, images));
