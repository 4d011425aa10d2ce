import "@shared/theme.css";
import "./viewer.css";
import { mount } from "svelte";
import { preferred, wear } from "@shared/theme.ts";
import { tellActivity } from "./activity.ts";
import Viewer from "./Viewer.svelte";

wear(preferred());
tellActivity();
const target = document.getElementById("viewer");
if (target) mount(Viewer, { target });
